import type { CheckSpec } from '../../domain/check.ts';
import type { GivenTurn, Scenario } from '../../domain/scenario.ts';
import { defaults } from '../defaults.ts';
import {
  type KeepText,
  type Path,
  parseJsonDocument,
  parseYamlDocument,
  type SourceDocument,
} from '../document.ts';
import { present } from '../present.ts';
import { shapeMistakes } from '../shape-mistakes.ts';
import { readAudio } from './audio.ts';
import { readExpectations } from './expectations.ts';
import type { TranscriptReader } from './reader.ts';
import { type RawTranscript, transcriptSchema } from './schema.ts';

/** A scenario that brings its own turns, and what is expected of each. */
export type ReadTranscript = { readonly scenario: Scenario; readonly checks: readonly CheckSpec[] };

/** Ids and tags are text whatever they look like; everything else is YAML 1.2 as it is. */
export const keepTranscriptText: KeepText = ([key]: Path) =>
  key === 'id' || key === 'tags' ? 'all' : undefined;

/**
 * The document of a YAML or JSON file that is no list, and so holds a transcript; `undefined` for a list of rows and for
 * other files. Throws a UsageError for a syntax error.
 */
export function transcriptDocument(text: string, file: string): SourceDocument | undefined {
  if (/\.json$/i.test(file)) {
    return /^\s*\{/.test(text) ? parseJsonDocument(text, file) : undefined;
  }
  if (!/\.ya?ml$/i.test(file)) return undefined;
  // A list of rows may be long; whether it is one shows in its first line.
  const start = text.replace(/^\uFEFF/, '').replace(/^(?:[ \t]*(?:#.*|%.*|---[ \t]*)?\r?\n)*/, '');
  return /^(?:- |-\r?\n|\[|$)/.test(start) ? undefined : parseYamlDocument(text, file, keepTranscriptText);
}

/** Reads a transcript; `undefined`, and mistakes, where it has another shape. */
export function readTranscript(reader: TranscriptReader): ReadTranscript | undefined {
  const parsed = transcriptSchema.safeParse(reader.row.value, { reportInput: true });
  if (!parsed.success) {
    for (const { path, message, hint, part } of shapeMistakes(parsed.error))
      reader.refuse(path, message, hint, part);
    return undefined;
  }
  const raw = parsed.data;
  const id = String(raw.id);
  const turns = raw.turns.map((turn, index): GivenTurn => {
    const audio =
      turn.audio === undefined ? undefined : readAudio(reader, turn.audio, ['turns', index, 'audio']);
    return { text: turn.user, ...present({ audio }) };
  });
  refuseMixedRates(reader, turns);
  const checks = raw.turns.flatMap(({ expect = {} }, index) =>
    readExpectations(reader, expect, { scenario: id, turn: index + 1, path: ['turns', index, 'expect'] }),
  );
  const scenario: Scenario = {
    id,
    input: raw.turns.map(({ user }) => user),
    tags: (raw.tags ?? []).map((tag) => tag.trim()),
    meta: {},
    threshold: thresholdOf(reader, raw),
    turns,
    ...present({ repeats: raw.runs }),
    ...(raw.on_turn_fail === 'stop' ? { onTurnFail: 'stop' } : {}),
  };
  return { scenario, checks };
}

/** The share of runs that must pass: `threshold`, or `min_pass` of the runs. */
function thresholdOf(reader: TranscriptReader, raw: RawTranscript): number {
  const { threshold, min_pass: least, runs = reader.defaults.repeats } = raw;
  if (least !== undefined) {
    if (threshold !== undefined)
      reader.refuse(['min_pass'], 'threshold and min_pass are one thing', 'keep one');
    if (least > runs) reader.refuse(['min_pass'], `min_pass ${least} is more than the ${runs} runs`);
    return Math.min(1, least / runs);
  }
  if (typeof threshold === 'number') return threshold;
  if (threshold === undefined) return defaults['transcript.threshold'];
  const [passed = 0, of = 1] = threshold.split('/').map(Number);
  if (passed > of) reader.refuse(['threshold'], `${threshold} is more than all`);
  return Math.min(1, passed / of);
}

function refuseMixedRates(reader: TranscriptReader, turns: readonly GivenTurn[]): void {
  const rates = turns.map(({ audio }) => audio?.rate);
  const first = rates.find((rate) => rate !== undefined);
  rates.forEach((rate, index) => {
    if (rate === undefined || rate === first) return;
    reader.refuse(['turns', index, 'audio'], `has ${rate} samples a second, the audio before it ${first}`);
  });
}
