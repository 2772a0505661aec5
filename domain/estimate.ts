import { isAskedOf } from './check.ts';
import { costOf, type Price } from './cost.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { driverOf } from './given-turns.ts';
import { modelsUsed } from './models-used.ts';
import type { Scenario } from './scenario.ts';
import type { DriverModel, DriverSpec, ModelSpec, SweepSpec, TargetSpec } from './sweep-spec.ts';

/** What a sweep will take, from half of its turns (`low`) to all of them (`high`). Retries are not counted. */
export type SweepEstimate = {
  readonly calls: Range;
  readonly inputTokens: Range;
  readonly outputTokens: Range;
  /** Absent where a model in use has no known price. */
  readonly costUsd?: Range;
  /** What a budget reserves for a run until the first ones have ended: a run of all turns. */
  readonly p90RunCostUsd?: number;
  /** Calls to each model (by its key) in a run of all turns, the dearest variant's. */
  readonly callsPerRun: Readonly<Record<string, number>>;
};

export type Range = { readonly low: number; readonly high: number };

// A customer's message and a desk's reply are a sentence or two; prompts around them are what the product adds.
const messageTokens = 60;
const judgeAnswerTokens = 80;
const managedBlockTokens = 350;
const judgeFrameTokens = 250;

type Load = {
  readonly model?: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** Estimates the calls, tokens and money of a sweep. `priceOf` knows USD per million tokens. */
export function estimateSweep(
  spec: SweepSpec,
  scenarios: readonly Scenario[],
  priceOf: (model: ModelSpec) => Price | undefined,
): SweepEstimate {
  const prices = new Map(modelsUsed(spec).map((model) => [model.name, priceOf(model)]));
  const isPriced = [...prices.values()].every((price) => price !== undefined);
  const [low, high] = [0.5, 1].map((share) => totalsOf(spec, scenarios, share, prices));
  const range = (key: 'calls' | 'inputTokens' | 'outputTokens' | 'costUsd') => ({
    low: low?.[key] ?? 0,
    high: high?.[key] ?? 0,
  });
  return {
    calls: range('calls'),
    inputTokens: range('inputTokens'),
    outputTokens: range('outputTokens'),
    callsPerRun: high?.callsPerRun ?? {},
    ...(isPriced ? { costUsd: range('costUsd'), p90RunCostUsd: high?.dearestRunUsd ?? 0 } : {}),
  };
}

function totalsOf(
  spec: SweepSpec,
  scenarios: readonly Scenario[],
  share: number,
  prices: ReadonlyMap<string, Price | undefined>,
) {
  const totals = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, dearestRunUsd: 0 };
  const callsPerRun: Record<string, number> = {};
  for (const scenario of scenarios) {
    const repeats = scenario.repeats ?? spec.repeats;
    const driver = driverOf(spec.driver, scenario);
    // What brings its own turns is played whole, however many turns others may have.
    const turns = scenario.turns?.length ?? Math.ceil(turnsOf(driver, spec.conversation.maxTurns) * share);
    for (const target of spec.targets) {
      const loads = loadsOf({ ...spec, driver }, scenario, target, turns);
      const costUsd = loads.reduce((sum, load) => sum + costOfLoad(load, prices), 0);
      totals.calls += repeats * sumOf(loads, 'calls');
      totals.inputTokens += repeats * sumOf(loads, 'inputTokens');
      totals.outputTokens += repeats * sumOf(loads, 'outputTokens');
      totals.costUsd += repeats * costUsd;
      totals.dearestRunUsd = Math.max(totals.dearestRunUsd, costUsd);
      for (const name of prices.keys()) {
        const calls = sumOf(
          loads.filter((load) => load.model === name),
          'calls',
        );
        callsPerRun[name] = Math.max(callsPerRun[name] ?? 0, calls);
      }
    }
  }
  return { ...totals, callsPerRun };
}

function costOfLoad(load: Load, prices: ReadonlyMap<string, Price | undefined>): number {
  const price = load.model === undefined ? undefined : prices.get(load.model);
  return price === undefined ? 0 : costOf(load, price);
}

function sumOf(loads: readonly Load[], key: 'calls' | 'inputTokens' | 'outputTokens'): number {
  return loads.reduce((sum, load) => sum + load[key], 0);
}

/** All that one run calls. */
function loadsOf(spec: SweepSpec, scenario: Scenario, target: TargetSpec, turns: number): readonly Load[] {
  return [
    ...driverLoads(spec.driver, turns),
    targetLoad(target, turns),
    ...judgeLoads(spec, scenario, turns),
  ];
}

/** How many turns a conversation has at most. */
function turnsOf(driver: DriverSpec, maxTurns: number): number {
  switch (driver.kind) {
    case 'none':
      return 1;
    case 'model':
      return maxTurns;
    case 'script':
      return Math.min(
        maxTurns,
        driver.steps.reduce((sum, step) => sum + (step.kind === 'say' ? 1 : step.turns), 0),
      );
  }
}

function driverLoads(driver: DriverSpec, turns: number): readonly Load[] {
  if (driver.kind === 'none') return [];
  if (driver.kind === 'model') return modelDriverLoads(driver, turns);
  const driven = driver.steps.reduce((sum, step) => sum + (step.kind === 'drive' ? step.turns : 0), 0);
  return driver.drive === undefined ? [] : modelDriverLoads(driver.drive, Math.min(driven, turns));
}

function modelDriverLoads(driver: DriverModel, turns: number): readonly Load[] {
  const prompt = estimateTokens(driver.prompt) + (driver.managed ? managedBlockTokens : 0);
  // Before the t-th message the conversation holds 2 (t - 1) messages: T (T - 1) in all.
  const inputTokens = turns * prompt + turns * (turns - 1) * messageTokens;
  const drive = { model: driver.model, calls: turns, inputTokens, outputTokens: turns * messageTokens };
  return driver.faithful === undefined
    ? [drive]
    : [drive, judgeLoad(driver.faithful, driver.prompt, turns, 1)];
}

function targetLoad(target: TargetSpec, turns: number): Load {
  if (target.kind !== 'chat') {
    const around =
      target.kind === 'http' ? [target.start, target.end].filter((request) => request !== undefined) : [];
    return { calls: turns + around.length, inputTokens: 0, outputTokens: 0 };
  }
  // With tools, about every turn asks for one.
  const calls = target.tools.length === 0 ? turns : 2 * turns;
  const prompt = estimateTokens(`${target.system ?? ''}${JSON.stringify([target.dialog, target.tools])}`);
  // Before the t-th reply the conversation holds 2 t - 1 messages: T^2 in all.
  const inputTokens = calls * prompt + (calls / turns) * turns ** 2 * messageTokens;
  return { model: target.model, calls, inputTokens, outputTokens: calls * messageTokens };
}

function judgeLoads(spec: SweepSpec, scenario: Scenario, turns: number): readonly Load[] {
  return spec.checks.flatMap((check) => {
    if (check.kind !== 'judge') return [];
    if (!isAskedOf(check, scenario)) return [];
    const isEachTurn = check.at === 'each_turn' || spec.conversation.stop?.check === check.name;
    return [judgeLoad(check.model, check.rubric, turns, check.votes * (isEachTurn ? turns : 1))];
  });
}

function judgeLoad(model: string, rubric: string, turns: number, calls: number): Load {
  const inputTokens = calls * (estimateTokens(rubric) + judgeFrameTokens + 2 * turns * messageTokens);
  return { model, calls, inputTokens, outputTokens: calls * judgeAnswerTokens };
}
