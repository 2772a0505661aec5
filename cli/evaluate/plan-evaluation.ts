import { sha256 } from '../../adapters/hash.ts';
import type { CheckSpec, RunNumber } from '../../domain/check.ts';
import { canonicalJson, storedJson } from '../../domain/json.ts';
import { modelsUsed } from '../../domain/models-used.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import type { Metric } from '../../domain/threshold.ts';
import { envNames } from '../../formats/env-references.ts';
import type { Shell } from '../shell.ts';
import { type PlannedSweep, planRead } from '../sweep/plan-sweep.ts';
import type { ReadSweep } from '../sweep/read-sweep.ts';
import type { PlayFlags } from '../sweep/sweep-flags.ts';
import type { Conversation } from './read-transcripts.ts';

export type PlannedEvaluation = PlannedSweep & {
  /** By run id. */
  readonly conversations: ReadonlyMap<string, Conversation>;
  /** Checks and thresholds that ask for what no transcript holds. */
  readonly leftOut: readonly string[];
};

/** Plans a sweep whose conversations were held elsewhere: a run each, checks and thresholds of the sweep file. */
export async function planEvaluation(
  shell: Shell,
  read: ReadSweep,
  conversations: readonly Conversation[],
  { file, flags, named }: { readonly file: string; readonly flags: PlayFlags; readonly named: boolean },
): Promise<PlannedEvaluation> {
  const scenarios = scenariosOf(conversations);
  const { spec, leftOut } = scoringOnly(read.spec, scenarios);
  const planned = await planRead(shell, { spec, scenarios, project: read.project }, flags, named);
  const byRepeat = new Map(conversations.map((held) => [`${held.repeat}/${held.scenario.id}`, held]));
  const byRun = new Map<string, Conversation>();
  const shards = planned.plan.shards.map((shard) => ({
    ...shard,
    runs: shard.runs.filter(({ id, repeat, scenario }) => {
      const held = byRepeat.get(`${repeat}/${scenario}`);
      if (held !== undefined) byRun.set(id, held);
      return held !== undefined;
    }),
  }));
  const { record } = planned;
  const content = canonicalJson(storedJson(conversations));
  return {
    ...planned,
    plan: { ...planned.plan, shards, runs: byRun.size },
    record: {
      ...record,
      hash: sha256(`${record.hash}\n${content}`),
      planned: { ...record.planned, runs: byRun.size },
      created: { ...record.created, imported: file },
    },
    conversations: byRun,
    leftOut,
  };
}

/** Each scenario once, with as many repeats as the highest that was held. */
function scenariosOf(conversations: readonly Conversation[]): readonly Scenario[] {
  const groups = Map.groupBy(conversations, ({ scenario }) => scenario.id);
  return [...groups.values()].flatMap((held) => {
    const repeats = held.reduce((highest, { repeat }) => Math.max(highest, repeat), 1);
    return held.slice(0, 1).map(({ scenario }) => ({ ...scenario, repeats }));
  });
}

/** Nobody speaks any more. A run that has lost its journal is broken by the target that has no replies. */
const nobody: TargetSpec = {
  kind: 'script',
  replies: [],
  retries: 1,
  idempotent: true,
  onUnsureTurn: 'restart',
  onLostSession: 'restart',
  targetFaults: 'broken',
};

/** What no transcript tells. */
const untold: readonly RunNumber[] = ['reply_seconds', 'input_tokens', 'output_tokens', 'cost_usd'];

/** The sweep without whatever only playing needs: driver, targets, their models and variables. */
function scoringOnly(
  spec: SweepSpec,
  scenarios: readonly Scenario[],
): { readonly spec: SweepSpec; readonly leftOut: readonly string[] } {
  const isUntold = (check: CheckSpec) => check.kind === 'number' && untold.includes(check.number);
  const checks = spec.checks.filter((check) => !isUntold(check));
  const ofScenarios = spec.thresholds.filter(
    ({ scenario }) => scenario === undefined || scenarios.some(({ id }) => id === scenario),
  );
  const thresholds = ofScenarios.filter(({ metric }) => isTold(metric, checks));
  const played = { driver: { kind: 'none' }, targets: [nobody], checks } as const;
  const models = Object.fromEntries(
    modelsUsed({ ...played, models: spec.models }).map((model) => [model.name, model]),
  );
  const { stop: _stop, ...conversation } = spec.conversation;
  return {
    spec: {
      ...spec,
      ...played,
      models,
      thresholds,
      conversation,
      repeats: 1,
      env: [...envNames(storedJson(models))].sort(),
    },
    leftOut: [
      ...spec.checks.filter(isUntold).map(({ name }) => `the check ${name}`),
      ...ofScenarios.filter((each) => !thresholds.includes(each)).map(({ text }) => `the threshold ${text}`),
    ],
  };
}

function isTold(metric: Metric, checks: readonly CheckSpec[]): boolean {
  const subject = 'subject' in metric ? metric.subject : undefined;
  switch (subject?.kind) {
    case 'number':
      return !untold.includes(subject.number);
    case 'check':
      return checks.some(({ name }) => name === subject.check);
    case 'outcome':
    case undefined:
      return true;
  }
}
