import { outcomes } from '../domain/outcome.ts';
import { labelLimits } from './metric-catalogue.ts';
import type { MetricMakers } from './metric-makers.ts';
import type { QueueReading } from './sweep-watch.ts';

/** Shows how the sweeps of a queue stand; undefined shows nothing, as somebody else does. */
export function progressMetrics(
  { gauge }: MetricMakers,
  onOverflow: () => void,
): (reading: QueueReading | undefined) => void {
  const planned = gauge('regatta_sweep_planned_runs');
  const runs = gauge('regatta_sweep_runs');
  const open = gauge('regatta_sweep_open_runs');
  const window = gauge('regatta_sweep_window');
  const spent = gauge('regatta_sweep_spent_usd');
  const budget = gauge('regatta_sweep_budget_usd');
  const started = gauge('regatta_sweep_started_timestamp_seconds');
  const state = gauge('regatta_sweep_state');
  const halted = gauge('regatta_sweep_halted');
  const backlog = gauge('regatta_queue_backlog');
  const all = [planned, runs, open, window, spent, budget, started, state, halted, backlog];
  return (reading) => {
    for (const each of all) each.reset();
    if (reading === undefined) return;
    for (const [task_type, tasks] of Object.entries(reading.backlog)) backlog.set({ task_type }, tasks);
    for (const { sweep, progress } of reading.sweeps.slice(0, labelLimits.sweep)) {
      const { tally, budgetUsd } = progress;
      planned.set({ sweep }, progress.runs);
      for (const outcome of outcomes) runs.set({ sweep, outcome }, tally.outcomes[outcome] ?? 0);
      open.set({ sweep }, progress.open);
      window.set({ sweep }, progress.window);
      spent.set({ sweep }, tally.usd);
      if (budgetUsd !== undefined) budget.set({ sweep }, budgetUsd);
      started.set({ sweep }, progress.startedAt / 1000);
      state.set({ sweep, state: progress.state }, 1);
      if (progress.halt !== undefined) halted.set({ sweep, reason: progress.halt.reason }, 1);
    }
    if (reading.sweeps.length > labelLimits.sweep) onOverflow();
  };
}
