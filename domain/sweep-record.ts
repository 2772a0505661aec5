import type { CheckSet } from './check-set.ts';
import type { RunPlan } from './run.ts';
import type { Scenario } from './scenario.ts';
import type { SweepSpec } from './sweep-spec.ts';

/** What was decided before the sweep began. */
export type SweepRecord = {
  readonly schema: 1;
  readonly id: string;
  /** Hash of spec and plan, without who and when. */
  readonly hash: string;
  /** As planned; where there are check sets, with the checks, thresholds and models of the last one. */
  readonly spec: SweepSpec;
  readonly planned: {
    readonly scenarios: number;
    readonly variants: number;
    readonly runs: number;
    readonly shards: number;
  };
  readonly inline: boolean;
  /** What a run is estimated to cost, in USD. */
  readonly estimateUsd: number;
  readonly queue: string;
  /** What came after the plan, numbered from 1; absent where the sweep is judged as planned. Not part of the hash. */
  readonly checkSets?: readonly CheckSet[];
  /** Versions and people: not part of the hash. */
  readonly created: {
    readonly at: number;
    readonly regatta: string;
    readonly by?: string;
    /** The folder that modules came from, on the machine that planned. */
    readonly project?: string;
    /** The file that its conversations came from: they were held elsewhere, and are only scored. */
    readonly imported?: string;
  };
};

/** The runs of one shard and the scenarios that they play. */
export type ShardRecord = {
  readonly schema: 1;
  readonly shard: number;
  readonly runs: readonly RunPlan[];
  readonly scenarios: readonly Scenario[];
};
