import type { Json, JsonObject } from './json.ts';

/** What the driver says in one turn of a scenario that brings its own turns. Not a template. */
export type GivenTurn = {
  readonly text: string;
  /** The same said aloud. */
  readonly audio?: AudioRef;
};

/** A WAV file of the project; `file` is relative to the project folder, with forward slashes. */
export type AudioRef = {
  readonly file: string;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
  /** Samples a second. */
  readonly rate: number;
};

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
  /** What the driver says, turn by turn: whatever driver the sweep has, it does not speak. */
  readonly turns?: readonly GivenTurn[];
  /** A turn in which one of the scenario's own checks fails is the last one; absent: the others are played too. */
  readonly onTurnFail?: 'stop';
};
