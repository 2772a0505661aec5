import type { Json } from '../../domain/json.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { Threshold } from '../../domain/threshold.ts';
import { parseThreshold } from '../threshold-grammar.ts';
import type { Reader } from './reader.ts';
import { sections } from './schema.ts';

/** The sweep's thresholds, then each item's own. */
export function readThresholds(
  reader: Reader,
  value: Json | undefined,
  scenarios: readonly Scenario[],
): readonly Threshold[] {
  const texts = value === undefined ? [] : (reader.shaped(sections.thresholds, value, ['thresholds']) ?? []);
  const names = { checks: reader.names.checks, tags: [...new Set(scenarios.flatMap(({ tags }) => tags))] };
  const written = texts.flatMap((text, index) => {
    const parsed = parseThreshold(text, names);
    if (parsed.kind === 'threshold') return [parsed.threshold];
    for (const { message, hint } of parsed.mistakes) reader.refuse(['thresholds', index], message, hint);
    return [];
  });
  return [...written, ...scenarios.flatMap(ownThreshold)];
}

function ownThreshold({ id, threshold }: Scenario): readonly Threshold[] {
  if (threshold === undefined) return [];
  const metric = { kind: 'pass_rate', subject: { kind: 'outcome' } } as const;
  return [{ text: `pass_rate >= ${threshold}`, metric, comparison: '>=', value: threshold, scenario: id }];
}
