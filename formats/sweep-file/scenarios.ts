import type { CheckSpec } from '../../domain/check.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { foldId, idMistake } from '../../domain/run-id.ts';
import type { Scenario } from '../../domain/scenario.ts';
import { describeMistake, type Mistake, type Place, UsageError } from '../../domain/usage-error.ts';
import type { Path, SourceDocument } from '../document.ts';
import { present } from '../present.ts';
import { type Row, readRows } from '../rows.ts';
import { describe } from '../shape-mistakes.ts';
import { readTranscript, transcriptDocument } from '../transcript/index.ts';
import { createTranscriptReader, type SweepDefaults } from '../transcript/reader.ts';
import type { Reader } from './reader.ts';
import { scenarioFileSchema, scenarioRowSchema } from './schema.ts';

/** Ids that were given out so far: folded id to where it stands; and how often each made id was asked for. */
type Ids = { readonly taken: Map<string, Place>; readonly made: Map<string, number> };

/** A file with the same mistake in every row is not worth a thousand lines. */
const mistakesPerFile = 20;

/** What the sources of a sweep bring: scenarios, and the checks of those that bring their own turns. */
export type Sources = { readonly scenarios: readonly Scenario[]; readonly checks: readonly CheckSpec[] };

type Found = { readonly scenario: Scenario; readonly checks?: readonly CheckSpec[] };

/** The scenarios of a sweep file: its rows and those of the files that it names. `file` names the rows without an id. */
export function readScenarios(
  reader: Reader,
  value: Json | undefined,
  file: string,
  defaults: SweepDefaults,
): Sources {
  const found = readItems({ reader, defaults, ids: { taken: new Map(), made: new Map() } }, value, file);
  return {
    scenarios: found.map(({ scenario }) => scenario),
    checks: found.flatMap(({ checks = [] }) => checks),
  };
}

type Reading = { readonly reader: Reader; readonly defaults: SweepDefaults; readonly ids: Ids };

function readItems(reading: Reading, value: Json | undefined, file: string): readonly Found[] {
  const { reader, ids } = reading;
  if (value === undefined || !Array.isArray(value)) {
    const hint = 'a list of rows and of `file: PATTERN`';
    reader.refuse(
      ['scenarios'],
      value === undefined ? '"scenarios" is missing' : `must be a list, not ${describe(value)}`,
      hint,
    );
    return [];
  }
  if (value.length === 0) reader.refuse(['scenarios'], 'there are no scenarios');
  return value.flatMap((item: Json, index) => {
    const path = ['scenarios', index];
    if (isJsonObject(item) && Object.hasOwn(item, 'file')) return scenariosOfFiles(reading, item, path);
    if (!isJsonObject(item)) {
      reader.refuse(path, `must be a row or \`file: PATTERN\`, not ${describe(item)}`);
      return [];
    }
    const row: Row = {
      written: item,
      value: item,
      placeOf: (inner, part) => reader.placeOf([...path, ...inner], part),
    };
    if (Object.hasOwn(item, 'turns')) return transcriptOf(reading, row, file, reader.add);
    return scenarioOf(reader, row, stemOf(file), ids, reader.add);
  });
}

function scenariosOfFiles(reading: Reading, item: JsonObject, path: Path): readonly Found[] {
  const { reader } = reading;
  const pattern = reader.shaped(scenarioFileSchema, item, path)?.file;
  if (pattern === undefined) return [];
  const files = isPattern(pattern) ? reader.context.expandGlob(pattern) : [pattern];
  if (files.length === 0) reader.refuse([...path, 'file'], `no file matches ${pattern}`);
  return files.flatMap((file) => {
    const text = reader.context.readText(file);
    if (text === undefined) {
      reader.refuse([...path, 'file'], `there is no file ${file}`);
      return [];
    }
    return scenariosOfText(reading, text, file);
  });
}

function scenariosOfText(reading: Reading, text: string, file: string): readonly Found[] {
  const { reader, ids } = reading;
  const mistakes: Mistake[] = [];
  const refuse = (mistake: Mistake) => mistakes.push(mistake);
  try {
    const document = transcriptDocument(text, file);
    if (document !== undefined) return transcriptIn(reading, document, file);
    return readRows(text, file, refuse).flatMap((row) => scenarioOf(reader, row, stemOf(file), ids, refuse));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    mistakes.push(...error.mistakes);
    return [];
  } finally {
    for (const mistake of mistakes.slice(0, mistakesPerFile)) reader.add(mistake);
    const more = mistakes.length - mistakesPerFile;
    if (more > 0) reader.add({ message: `${more} more mistakes in this file`, where: { file } });
  }
}

function scenarioOf(
  reader: Reader,
  row: Row,
  stem: string,
  ids: Ids,
  refuse: (mistake: Mistake) => void,
): readonly Found[] {
  const raw = shapedRow(reader, row, refuse);
  if (raw === undefined) return [];
  const { id, input, tags = [], meta = {}, repeats, threshold, ...expectations } = raw;
  const keys = Object.keys(expectations);
  if (keys.length > 1)
    refuse({ message: `has ${keys.join(' and ')}: they are one thing`, where: row.placeOf([]) });
  const scenario: Scenario = {
    id: id === undefined ? madeId(row.written, stem, reader.context.hash, ids) : String(id),
    input,
    tags: [tags]
      .flat()
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    meta,
    ...present({ expected: Object.values(expectations)[0], repeats, threshold }),
  };
  claimId(scenario.id, row.placeOf(id === undefined ? [] : ['id']), ids, refuse);
  return [{ scenario }];
}

/** The transcript that a file holds: all that is wrong with it is told, for it is one item. */
function transcriptIn(reading: Reading, document: SourceDocument, file: string): readonly Found[] {
  const { value, placeOf } = document;
  if (isJsonObject(value))
    return transcriptOf(reading, { written: value, value, placeOf }, file, reading.reader.add);
  reading.reader.add({ message: `must be a map or a list of rows, not ${describe(value)}`, where: { file } });
  return [];
}

function transcriptOf(
  { reader, defaults, ids }: Reading,
  row: Row,
  file: string,
  refuse: (mistake: Mistake) => void,
): readonly Found[] {
  const parts = { context: reader.context, defaults };
  const found = readTranscript(createTranscriptReader(row, file, parts, refuse));
  if (found === undefined) return [];
  claimId(found.scenario.id, row.placeOf(['id']), ids, refuse);
  return [found];
}

function shapedRow(reader: Reader, row: Row, refuse: (mistake: Mistake) => void) {
  // The tags of JSON lines may be numbers; ids and tags are text.
  const { tags } = row.value;
  const value = Array.isArray(tags) ? { ...row.value, tags: tags.map(textOfTag) } : row.value;
  return reader.shaped(scenarioRowSchema, value, [], (path, message, hint, part) =>
    refuse({ message, ...(hint === undefined ? {} : { hint }), where: row.placeOf(path, part) }),
  );
}

function textOfTag(tag: Json): Json {
  return typeof tag === 'number' || typeof tag === 'boolean' ? String(tag) : tag;
}

function madeId(row: JsonObject, stem: string, hash: (text: string) => string, ids: Ids): string {
  const id = `${stem}-${hash(canonicalJson(row)).slice(0, 8)}`;
  const count = (ids.made.get(id) ?? 0) + 1;
  ids.made.set(id, count);
  return count === 1 ? id : `${id}-${count}`;
}

function claimId(id: string, where: Place, ids: Ids, refuse: (mistake: Mistake) => void): void {
  const wrong = idMistake(id);
  if (wrong !== undefined) {
    refuse({ message: wrong, where });
    return;
  }
  const first = ids.taken.get(foldId(id));
  if (first === undefined) ids.taken.set(foldId(id), where);
  else {
    const place = describeMistake({ message: 'the first', where: { ...first } }).replace(/: the first$/, '');
    refuse({
      message: `the id "${id}" is taken`,
      hint: `the first stands at ${place}; letter case does not count`,
      where,
    });
  }
}

function stemOf(file: string): string {
  const name = file.split(/[\\/]/).at(-1) ?? file;
  return name.replace(/(?<=.)\.[^.]*$/, '');
}

/** Whether a file name holds wildcards. */
export function isPattern(file: string): boolean {
  return /[*?[{]/.test(file);
}
