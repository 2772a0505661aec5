import { wantsMore } from './comparison.ts';
import { type GateFacts, type Measured, measureThreshold, shortNumber } from './measure.ts';
import type { PlayedRun } from './sample.ts';
import type { GateVerdict, Threshold } from './threshold.ts';

export type GroupResult = Measured & { readonly group: string };

export type ThresholdResult = Measured & {
  readonly text: string;
  /** It is this item's own threshold. */
  readonly scenario?: string;
  /** One a group, for thresholds with `for each`. */
  readonly groups?: readonly GroupResult[];
  /** An item's own threshold that does not count: this threshold of a group that holds the item is open. */
  readonly coveredBy?: string;
};

/** The runs that a threshold is about, by group; without `for each` one group named ''. */
export function groupRuns(
  threshold: Threshold,
  runs: readonly PlayedRun[],
): ReadonlyMap<string, readonly PlayedRun[]> {
  const { forEach, whereTag, scenario } = threshold;
  const chosen = runs.filter(
    ({ plan }) =>
      (whereTag === undefined || plan.tags.includes(whereTag)) &&
      (scenario === undefined || plan.scenario === scenario),
  );
  return grouped(chosen, (run) => (forEach === undefined ? [''] : groupNames(forEach, run)));
}

function grouped(
  runs: readonly PlayedRun[],
  namesOf: (run: PlayedRun) => readonly string[],
): ReadonlyMap<string, readonly PlayedRun[]> {
  const groups = new Map<string, PlayedRun[]>();
  for (const run of runs) {
    for (const name of namesOf(run)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [run]);
      else group.push(run);
    }
  }
  return groups;
}

function groupNames(forEach: NonNullable<Threshold['forEach']>, { plan }: PlayedRun): readonly string[] {
  switch (forEach) {
    case 'scenario':
      return [plan.scenario];
    case 'target':
      return [plan.variant ?? 'target'];
    case 'tag':
      return [...new Set(plan.tags)];
  }
}

const verdictOrder: readonly GateVerdict[] = ['shut', 'undecided', 'open'];

/** Any shut: shut; else any undecided: undecided; else open. */
export function strictest(verdicts: readonly GateVerdict[]): GateVerdict {
  return verdictOrder.find((verdict) => verdicts.includes(verdict)) ?? 'open';
}

const mostNamed = 5;

function shownGroups(groups: readonly GroupResult[]): string {
  const named = groups.slice(0, mostNamed).map(({ group, value }) => {
    return value === undefined ? group : `${group} ${shortNumber(value)}`;
  });
  return `${named.join(', ')}${groups.length > mostNamed ? ', ...' : ''}`;
}

function groupsReason(forEach: string, groups: readonly GroupResult[]): string {
  if (groups.length === 0) return `there is no ${forEach}`;
  const parts = verdictOrder.map((verdict) => {
    const chosen = groups.filter((group) => group.verdict === verdict);
    if (chosen.length === 0) return undefined;
    return `${chosen.length} ${verdict}${verdict === 'open' ? '' : ` (${shownGroups(chosen)})`}`;
  });
  return `of ${groups.length} by ${forEach}: ${parts.filter((part) => part !== undefined).join(', ')}`;
}

/** A threshold over the runs; a group in which nothing is asked (a check `for_tag`) has no say. */
export function evaluateThreshold(
  threshold: Threshold,
  runs: readonly PlayedRun[],
  facts: GateFacts,
): ThresholdResult {
  const { text, scenario, forEach } = threshold;
  const named = { text, ...(scenario === undefined ? {} : { scenario }) };
  const members = groupRuns(threshold, runs);
  if (forEach === undefined) {
    const measured = measureThreshold(threshold, members.get('') ?? [], facts);
    return { ...named, ...(measured ?? { verdict: 'undecided', missing: 0, reason: 'no run was asked' }) };
  }
  const groups = [...members].flatMap(([group, some]) => {
    const measured = measureThreshold(threshold, some, facts);
    return measured === undefined ? [] : [{ group, ...measured }];
  });
  return {
    ...named,
    verdict: groups.length === 0 ? 'undecided' : strictest(groups.map(({ verdict }) => verdict)),
    missing: groups.reduce((sum, group) => sum + group.missing, 0),
    reason: groupsReason(forEach, groups),
    groups,
  };
}

/** Whether a threshold of a group speaks about what an item's own threshold asks: whether runs pass. */
function isGroupOfPasses({ metric, comparison, scenario, whereTag, forEach }: Threshold): boolean {
  if (metric.kind !== 'pass_rate' && metric.kind !== 'pass_at' && metric.kind !== 'pass_hat') return false;
  const isGroup = scenario === undefined && (whereTag !== undefined || forEach === 'tag');
  return isGroup && metric.subject.kind === 'outcome' && wantsMore(comparison);
}

function holds({ whereTag }: Threshold, tags: readonly string[]): boolean {
  return whereTag === undefined ? tags.length > 0 : tags.includes(whereTag);
}

/** Every threshold over the runs; an item's own that is not open does not count where an open group holds the item. */
export function evaluateThresholds(
  thresholds: readonly Threshold[],
  runs: readonly PlayedRun[],
  facts: GateFacts,
): readonly ThresholdResult[] {
  const byScenario = grouped(runs, ({ plan }) => [plan.scenario]);
  const evaluated = thresholds.map((threshold) => {
    const some = threshold.scenario === undefined ? runs : (byScenario.get(threshold.scenario) ?? []);
    return { threshold, result: evaluateThreshold(threshold, some, facts) };
  });
  const covers = evaluated.filter(
    ({ threshold, result }) => isGroupOfPasses(threshold) && result.verdict === 'open',
  );
  return evaluated.map(({ threshold: { scenario }, result }) => {
    if (scenario === undefined || result.verdict === 'open') return result;
    const tags = byScenario.get(scenario)?.[0]?.plan.tags ?? [];
    const cover = covers.find(({ threshold }) => holds(threshold, tags));
    return cover === undefined ? result : { ...result, coveredBy: cover.threshold.text };
  });
}
