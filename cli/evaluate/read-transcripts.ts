import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sha256 } from '../../adapters/hash.ts';
import { wordHint } from '../../domain/closest.ts';
import { canonicalJson, isJsonObject, type Json } from '../../domain/json.ts';
import { foldId, idMistake } from '../../domain/run-id.ts';
import type { Scenario } from '../../domain/scenario.ts';
import { describeMistake, type Mistake, UsageError } from '../../domain/usage-error.ts';
import { type Row, readRows } from '../../formats/rows.ts';
import type { Shell } from '../shell.ts';
import { type ReadMessages, readChatMessages } from './chat-messages.ts';

/** A conversation that was held elsewhere. */
export type Conversation = ReadMessages & {
  readonly scenario: Scenario;
  /** Counted from 1. */
  readonly repeat: number;
};

/** A file with the same mistake in every line is not worth a thousand lines. */
const mistakesShown = 20;

/**
 * Reads transcripts: an object each, as JSON lines or as a YAML or JSON list, with `messages` and either `scenario`
 * (the id of one of `known`) or an `id`, `input`, `expected`, `tags` and `meta` of its own.
 * @throws UsageError with every mistake and its line.
 */
export async function readTranscripts(
  shell: Shell,
  file: string,
  known: readonly Scenario[],
): Promise<readonly Conversation[]> {
  const text = await readFile(resolve(shell.cwd, file), 'utf8').catch((error: Error) => {
    throw new UsageError({ message: `cannot read ${file}: ${error.message}` });
  });
  const mistakes: Mistake[] = [];
  const refuse = (mistake: Mistake) => mistakes.push(mistake);
  const stem = (file.split(/[\\/]/).at(-1) ?? file).replace(/(?<=.)\.[^.]*$/, '');
  const scenarioOf = createScenarios({ known, stem, refuse });
  const rows = readRows(text, file, refuse).map((row) => {
    const read = readMessagesOf(row, refuse);
    return { row, read, scenario: scenarioOf(row, read) };
  });
  const conversations = numbered(rows, refuse);
  if (mistakes.length > 0) throw new UsageError(shortened(mistakes, file));
  return conversations;
}

type Refuse = (mistake: Mistake) => void;

function readMessagesOf(row: Row, refuse: Refuse): ReadMessages {
  const { messages } = row.written;
  if (!Array.isArray(messages) || messages.length === 0) {
    const hint = 'a list of {"role": "user" or "assistant", "content"}';
    refuse({ message: '"messages" is missing or empty', hint, where: row.placeOf([]) });
    return { transcript: [] };
  }
  return readChatMessages(messages, (index, message, hint) =>
    refuse({
      message,
      where: row.placeOf(['messages', index]),
      ...(hint === undefined ? {} : { hint }),
    }),
  );
}

type Scenarios = {
  readonly known: readonly Scenario[];
  /** Begins the ids of rows that have none. */
  readonly stem: string;
  readonly refuse: Refuse;
};

/** Finds or makes the scenario of each row. Rows of one id are repeats of one scenario, and must agree on it. */
function createScenarios({ known, stem, refuse }: Scenarios) {
  const found = new Map<
    string,
    { readonly scenario: Scenario; readonly written: string; readonly row: Row }
  >();
  return (row: Row, read: ReadMessages): Scenario | undefined => {
    const name = row.written.scenario;
    const scenario =
      name === undefined ? ownScenario(row, read, stem) : known.find(({ id }) => id === String(name));
    if (scenario === undefined) {
      const hint = wordHint(
        String(name),
        known.map(({ id }) => id),
      );
      const where = row.placeOf(['scenario']);
      refuse({ message: `the sweep has no scenario "${String(name)}"`, hint, where });
      return undefined;
    }
    const wrong = idMistake(scenario.id);
    if (wrong !== undefined) refuse({ message: wrong, where: row.placeOf(['id']) });
    const written = name === undefined ? writtenOf(row) : `scenario ${scenario.id}`;
    const first = found.get(foldId(scenario.id));
    if (first === undefined) found.set(foldId(scenario.id), { scenario, written, row });
    else if (first.written !== written) {
      const place = describeMistake({ message: '', where: first.row.placeOf([]) }).replace(/: $/, '');
      const message = `the id "${scenario.id}" stands for two scenarios`;
      refuse({ message, hint: `the first is at ${place}`, where: row.placeOf([]) });
    }
    return first?.scenario ?? scenario;
  };
}

/** What rows of one id must agree on. */
function writtenOf({ written }: Row): string {
  const { messages: _messages, repeat: _repeat, ...scenario } = written;
  return canonicalJson(scenario);
}

/** Without an `input` it is what the driver said first. */
function ownScenario({ written, value }: Row, { transcript }: ReadMessages, stem: string): Scenario {
  const expected = written.expected ?? written.result ?? written.expectation;
  const { messages: _messages, repeat: _repeat, ...meta } = isJsonObject(value.meta) ? value.meta : {};
  return {
    id:
      written.id === undefined ? `${stem}-${sha256(canonicalJson(written)).slice(0, 8)}` : String(written.id),
    input: written.input ?? transcript.find(({ by }) => by === 'driver')?.text ?? '',
    ...(expected === undefined ? {} : { expected }),
    tags: tagsOf(written.tags),
    meta,
  };
}

function tagsOf(tags: Json | undefined): readonly string[] {
  const all = Array.isArray(tags) ? tags : tags === undefined || tags === null ? [] : [tags];
  return all.map((tag: Json) => String(tag).trim()).filter((tag) => tag !== '');
}

type ReadRow = { readonly row: Row; readonly read: ReadMessages; readonly scenario: Scenario | undefined };

/** Gives each conversation its repeat: the one that it names, else the next that is free. */
function numbered(rows: readonly ReadRow[], refuse: Refuse): readonly Conversation[] {
  const taken = new Map<string, Set<number>>();
  const takenOf = (scenario: Scenario) => {
    const numbers = taken.get(scenario.id) ?? new Set();
    taken.set(scenario.id, numbers);
    return numbers;
  };
  for (const { row, scenario } of rows) {
    const { repeat } = row.written;
    if (repeat === undefined || scenario === undefined) continue;
    const where = row.placeOf(['repeat']);
    if (!Number.isInteger(repeat) || Number(repeat) < 1 || Number(repeat) > mostRepeats)
      refuse({ message: `"repeat" must be a whole number from 1 to ${mostRepeats}`, where });
    else if (takenOf(scenario).has(Number(repeat)))
      refuse({ message: `repeat ${Number(repeat)} of "${scenario.id}" is there twice`, where });
    takenOf(scenario).add(Number(repeat));
  }
  return rows.flatMap(({ row, read, scenario }) => {
    if (scenario === undefined) return [];
    const repeat = Number(row.written.repeat ?? firstFree(takenOf(scenario)));
    takenOf(scenario).add(repeat);
    return [{ ...read, scenario, repeat }];
  });
}

const mostRepeats = 10_000;

function firstFree(numbers: ReadonlySet<number>): number {
  let number = 1;
  while (numbers.has(number)) number += 1;
  return number;
}

function shortened(mistakes: readonly Mistake[], file: string): readonly Mistake[] {
  const inOrder = mistakes.toSorted((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0));
  const more = mistakes.length - mistakesShown;
  if (more <= 0) return inOrder;
  return [
    ...inOrder.slice(0, mistakesShown),
    { message: `${more} more mistakes in this file`, where: { file } },
  ];
}
