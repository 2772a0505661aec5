import type { SweepEstimate } from './estimate.ts';
import type { SweepSpec } from './sweep-spec.ts';

/** What will probably go wrong with a plan, in sentences: pace, clocks and window that do not fit one another. */
export function planWarnings(spec: SweepSpec, runs: number, estimate: SweepEstimate): readonly string[] {
  const { timeouts } = spec;
  const clocks =
    timeouts.callMs <= timeouts.runMs
      ? []
      : [
          `timeouts.call (${duration(timeouts.callMs)}) is longer than timeouts.run (${duration(timeouts.runMs)})`,
        ];
  return [
    ...clocks,
    ...Object.values(spec.models).flatMap((model) => paceWarnings(spec, runs, estimate, model)),
  ];
}

function paceWarnings(
  spec: SweepSpec,
  runs: number,
  estimate: SweepEstimate,
  { name, rpm }: SweepSpec['models'][string],
): readonly string[] {
  const calls = estimate.callsPerRun[name] ?? 0;
  if (rpm === undefined || calls === 0) return [];
  const { giveUpMs, sweepMs } = spec.timeouts;
  const open = Math.min(spec.concurrency, runs);
  // Runs that are open together share the pace, so each of them takes as long as all of them.
  const runMs = ((open * calls) / rpm) * 60_000;
  const allMs = ((runs * calls) / rpm) * 60_000;
  const paced = `at ${rpm} requests a minute to ${name}`;
  const fitting = Math.max(1, Math.floor((giveUpMs * rpm) / (calls * 60_000)));
  return [
    ...(runMs > giveUpMs
      ? [
          `${paced}, ${open} open runs of ${calls} calls take ${duration(runMs)} each, more than give_up (${duration(giveUpMs)}): lower concurrency to ${fitting}`,
        ]
      : []),
    ...(allMs > sweepMs
      ? [
          `${paced}, all ${runs} runs take ${duration(allMs)}, more than timeouts.sweep (${duration(sweepMs)})`,
        ]
      : []),
  ];
}

function duration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const;
  const [unit, size] = units.find(([, unitMs]) => ms >= unitMs) ?? (['ms', 1] as const);
  return `${Math.round((ms / size) * 10) / 10} ${unit}`;
}
