import { leastOf } from '../domain/pace-lease.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';

export type DeclaredPace = Pick<ModelSpec, 'maxInFlight' | 'rpm' | 'tpm'>;

/** What is declared a minute is forgotten after one. */
const rememberedMs = 60_000;

/**
 * What the sweeps that call an endpoint now declare for it. They may differ: then the least of each holds until who
 * declared it has not called for a minute. `now` is in milliseconds.
 */
export function createDeclaredPace(now: () => number): (model: DeclaredPace) => DeclaredPace {
  const declared = new Map<string, { readonly model: DeclaredPace; readonly at: number }>();
  return (model) => {
    declared.set(`${model.maxInFlight} ${model.rpm} ${model.tpm}`, { model, at: now() });
    for (const [key, { at }] of declared) if (now() - at > rememberedMs) declared.delete(key);
    return [...declared.values()].reduce<DeclaredPace>((least, { model: one }) => {
      const maxInFlight = Math.min(least.maxInFlight, one.maxInFlight);
      return { ...leastOf(least, one), maxInFlight };
    }, model);
  };
}
