import type { Range, SweepEstimate } from '../../domain/estimate.ts';
import type { PlannedSweep } from './plan-sweep.ts';

/** The plan in one line: "12 scenarios x 2 variants x 5 repeats = 120 runs, window 20, a workflow each, ...". */
export function planLine({ plan, record, scenarios }: PlannedSweep): string {
  const { spec } = record;
  const ownRepeats = scenarios.some((scenario) => scenario.repeats !== undefined);
  const factors = [
    counted(plan.scenarios, 'scenario'),
    ...(plan.variants > 1 ? [counted(plan.variants, 'variant')] : []),
    ownRepeats ? 'repeats of their own' : counted(spec.repeats, 'repeat'),
  ];
  return [
    `${factors.join(' x ')} = ${counted(plan.runs, 'run')}`,
    `window ${spec.concurrency}`,
    plan.inline ? 'played by their shards' : 'a workflow each',
    ...estimateText(plan.estimate),
    ...(spec.env.length === 0 ? [] : [`env ${spec.env.join(' ')}`]),
  ].join(', ');
}

function estimateText({ calls, costUsd }: SweepEstimate): readonly string[] {
  return [
    `about ${rangeText(calls, (count) => String(Math.round(count)))} calls`,
    ...(costUsd === undefined ? ['cost unknown (a model has no price)'] : costText(costUsd)),
  ];
}

function costText(cost: Range): readonly string[] {
  return cost.high === 0 ? [] : [`about ${rangeText(cost, (usd) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`)}`];
}

function rangeText({ low, high }: Range, format: (value: number) => string): string {
  const [from, to] = [format(low), format(high)];
  return from === to ? from : `${from} to ${to}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
