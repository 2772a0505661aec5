import type { Price } from './cost.ts';
import { estimateSweep, type SweepEstimate } from './estimate.ts';
import { planWarnings } from './plan-warnings.ts';
import { runSeed } from './random.ts';
import type { RunPlan } from './run.ts';
import { longestId, runIdOf } from './run-id.ts';
import type { Scenario } from './scenario.ts';
import { liveShards } from './shares.ts';
import type { ShardRecord } from './sweep-record.ts';
import type { ModelSpec, SweepSpec } from './sweep-spec.ts';
import { type Mistake, UsageError } from './usage-error.ts';

/** All runs of a sweep, sliced into shards (numbered from 0), and what they will take. */
export type SweepPlan = {
  readonly shards: readonly ShardRecord[];
  readonly scenarios: number;
  readonly variants: number;
  readonly runs: number;
  /** Runs are played by their shard, not by a workflow each. */
  readonly inline: boolean;
  readonly estimate: SweepEstimate;
  readonly warnings: readonly string[];
};

export type PlanInput = {
  readonly id: string;
  readonly spec: SweepSpec;
  readonly scenarios: readonly Scenario[];
  /** Default: inline where there are more than 500 runs. */
  readonly inline?: boolean;
  /** USD per million tokens of a model; `undefined` where unknown. Default: the price in the file. */
  readonly priceOf?: (model: ModelSpec) => Price | undefined;
};

const runsInAShard = 500;
const runsInAnInlineShard = 1000;
const mostShards = 1000;
/** Fewer are not worth a workflow; and no more are open in one shard, so that its history stays short. */
const fewestRunsInAShard = 100;

/**
 * Plans a sweep: the same input gives the same plan. All runs of a scenario are in one shard where they fit.
 * Throws a UsageError where a run's id is too long or more than 1,000 shards were needed.
 */
export function planSweep({
  id,
  spec,
  scenarios,
  inline,
  priceOf = ({ price }) => price,
}: PlanInput): SweepPlan {
  const repeats = scenarios.reduce((sum, scenario) => sum + (scenario.repeats ?? spec.repeats), 0);
  const runs = repeats * spec.targets.length;
  // A turn on another queue is three events more.
  const isElsewhere = spec.targets.some(({ kind }) => kind === 'queue');
  const isInline = !isElsewhere && (inline ?? runs > runsInAShard);
  const size = shardSize(runs, spec.concurrency, isInline ? runsInAnInlineShard : runsInAShard);
  // Before the runs are written down: a slip of the pen in `repeats` must not fill the memory.
  refuseTooMany(Math.ceil(runs / size), runs);
  const planned = scenarios.map((scenario) => ({ scenario, runs: runsOf(id, spec, scenario) }));
  const tooLong = longIds(planned);
  if (tooLong.length > 0) throw new UsageError(tooLong);
  const slices = packed(planned, size);
  refuseTooMany(slices.length, runs);
  const estimate = estimateSweep(spec, scenarios, priceOf);
  return {
    shards: slices.map((groups, shard) => ({
      schema: 1,
      shard,
      runs: groups.flatMap((group) => group.runs),
      scenarios: groups.map((group) => group.scenario),
    })),
    scenarios: scenarios.length,
    variants: spec.targets.length,
    runs,
    inline: isInline,
    estimate,
    warnings: planWarnings(spec, runs, estimate),
  };
}

/** So that as many shards as are live at once share the runs. */
function shardSize(runs: number, window: number, most: number): number {
  const shared = Math.ceil(runs / liveShards(window));
  return Math.max(
    Math.min(most, Math.max(fewestRunsInAShard, shared)),
    Math.min(most, Math.ceil(runs / mostShards)),
  );
}

/** The runs of one scenario, all of them or those that one shard plays. */
type Group = { readonly scenario: Scenario; readonly runs: readonly RunPlan[] };

function runsOf(sweep: string, spec: SweepSpec, scenario: Scenario): readonly RunPlan[] {
  const repeats = Array.from({ length: scenario.repeats ?? spec.repeats }, (_, index) => index + 1);
  return spec.targets.flatMap(({ variant }) =>
    repeats.map((repeat) => {
      const which = { scenario: scenario.id, ...(variant === undefined ? {} : { variant }), repeat };
      // Variants share their seeds: they are compared under the same conditions.
      return { id: runIdOf({ sweep, ...which }), ...which, seed: runSeed(spec.seed, scenario.id, repeat) };
    }),
  );
}

function packed(groups: readonly Group[], size: number): readonly (readonly Group[])[] {
  const slices: Group[][] = [];
  let free = 0;
  for (const { scenario, runs } of groups) {
    let rest = runs;
    while (rest.length > 0) {
      if (free === 0 || (rest.length > free && rest.length <= size)) {
        slices.push([]);
        free = size;
      }
      const taken = rest.slice(0, free);
      slices.at(-1)?.push({ scenario, runs: taken });
      free -= taken.length;
      rest = rest.slice(taken.length);
    }
  }
  return slices;
}

function longIds(groups: readonly Group[]): readonly Mistake[] {
  return groups.flatMap(({ scenario, runs }) => {
    const longest = runs.reduce((length, run) => Math.max(length, run.id.length), 0);
    if (longest <= longestId) return [];
    const message = `scenario "${scenario.id}": its runs' ids take ${longest} characters, at most ${longestId} fit`;
    return [{ message, hint: 'shorten the id of the scenario, of the variant or of the sweep' }];
  });
}

function refuseTooMany(shards: number, runs: number): void {
  if (shards <= mostShards) return;
  throw new UsageError({
    message: `${runs} runs are too many for one sweep: they need ${shards} shards, at most ${mostShards} fit`,
    hint: 'split it into several sweeps, or play it inline (--bulk): a shard then holds twice as many',
  });
}
