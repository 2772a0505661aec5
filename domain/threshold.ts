import type { RunNumber } from './check.ts';

/** What a metric is taken over: the outcome of runs, one check's verdicts or scores, or a number that every run has. */
export type MetricSubject =
  | { readonly kind: 'outcome' }
  | { readonly kind: 'check'; readonly check: string }
  | { readonly kind: 'number'; readonly number: RunNumber };

/** A number over many runs. */
export type Metric =
  | { readonly kind: 'pass_rate'; readonly subject: MetricSubject }
  | { readonly kind: 'pass_at'; readonly k: number; readonly subject: MetricSubject }
  | { readonly kind: 'pass_hat'; readonly k: number; readonly subject: MetricSubject }
  | { readonly kind: 'mean' | 'min' | 'max'; readonly subject: MetricSubject }
  | { readonly kind: 'percentile'; readonly percent: 50 | 90 | 95 | 99; readonly subject: MetricSubject }
  | { readonly kind: 'broken_rate' }
  | { readonly kind: 'cost_usd' }
  | { readonly kind: 'runs' };

export type Comparison = '>=' | '>' | '<=' | '<' | '==' | '!=';

/** A rule on a metric. */
export type Threshold = {
  /** As written. */
  readonly text: string;
  readonly metric: Metric;
  readonly comparison: Comparison;
  readonly value: number;
  readonly forEach?: 'scenario' | 'target' | 'tag';
  readonly whereTag?: string;
  /** 0 to 1: the one-sided bound of this confidence must clear the value. */
  readonly confidence?: number;
  /** An item's own threshold: only runs of this scenario count. */
  readonly scenario?: string;
};

export type GateVerdict = 'open' | 'shut' | 'undecided';
