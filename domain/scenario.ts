import type { Json, JsonObject } from './json.ts';

/** One situation to play. `id` is unique in its sweep, compared case-folded. */
export type Scenario = {
  readonly id: string;
  readonly input: Json;
  readonly expected?: Json;
  readonly tags: readonly string[];
  readonly meta: JsonObject;
  /** An item's own repeats; beats the sweep's. */
  readonly repeats?: number;
  /** An item's own threshold on its pass rate, 0 to 1; added to the gate. */
  readonly threshold?: number;
};
