import { wordHint } from '../domain/closest.ts';
import { thresholdFeasible } from '../domain/feasibility.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject, storedJson } from '../domain/json.ts';
import { judgesUsed, playersOf } from '../domain/models-used.ts';
import type { PlannedRun } from '../domain/sample.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { SweepSpec } from '../domain/sweep-spec.ts';
import type { Threshold } from '../domain/threshold.ts';
import { UsageError } from '../domain/usage-error.ts';
import { envNames } from './env-references.ts';
import { describe } from './shape-mistakes.ts';
import { readChecks } from './sweep-file/checks.ts';
import { createReader, type Reader, type SweepFileContext } from './sweep-file/reader.ts';
import { checkTemplates, inputKeysOf } from './sweep-file/templates.ts';
import { readThresholds } from './sweep-file/thresholds.ts';
import {
  checkBudget,
  checkTags,
  inOrder,
  parseSource,
  readModels,
  type SweepSource,
  withQuotes,
} from './sweep-file.ts';

/** The sweep that is to be judged by other checks. */
export type JudgedSweep = {
  readonly spec: SweepSpec;
  readonly scenarios: readonly Scenario[];
  readonly planned: readonly PlannedRun[];
};

export type ChecksFileContent = Pick<SweepSpec, 'checks' | 'thresholds' | 'models'> & {
  /** Names of the environment variables that its judges take. */
  readonly env: readonly string[];
};

const keys = ['checks', 'thresholds', 'models'];

/**
 * Reads a file of `checks`, `thresholds` and `models` that are to judge the conversations of a sweep; a key that is
 * absent stays as the sweep has it, and its `models` are added to the sweep's. Throws a UsageError with every mistake
 * and its place; whether thresholds can open is proved where nothing else is wrong.
 */
export function readChecksFile(
  source: SweepSource,
  sweep: JudgedSweep,
  context: SweepFileContext,
): ChecksFileContent {
  const { file } = source;
  const document = parseSource(source);
  const { value } = document;
  if (!isJsonObject(value)) {
    const message = `a file of checks must be a map with ${keys.join(', ')}, not ${describe(value)}`;
    throw new UsageError({ message, where: { file } });
  }
  const own = (section: Json | undefined) => (isJsonObject(section) ? Object.keys(section) : []);
  const reader = createReader(document, context, {
    models: [...Object.keys(sweep.spec.models), ...own(value.models)],
    checks: value.checks === undefined ? sweep.spec.checks.map(({ name }) => name) : own(value.checks),
  });
  const spec = readSections(reader, value, sweep);
  if (reader.mistakes.length === 0) proveThresholds(reader, value, spec, sweep.planned);
  if (reader.mistakes.length > 0) throw new UsageError(inOrder(reader.mistakes, file));
  const { checks, thresholds, models } = spec;
  const judges = storedJson(judgesUsed(spec));
  return { checks, thresholds, models, env: [...envNames(judges)].sort() };
}

function readSections(reader: Reader, written: JsonObject, { spec, scenarios }: JudgedSweep): SweepSpec {
  for (const key of Object.keys(written).filter((candidate) => !keys.includes(candidate))) {
    reader.refuse([key], `unknown key "${key}"`, wordHint(key, keys), 'key');
  }
  const raw = withQuotes(reader, written, inputKeysOf(scenarios));
  const models = { ...spec.models, ...readModels(reader, raw.models) };
  const checks = raw.checks === undefined ? spec.checks : readChecks(reader, raw.checks);
  const thresholds =
    raw.thresholds === undefined ? spec.thresholds : readThresholds(reader, raw.thresholds, scenarios);
  const judged = { ...spec, models, checks, thresholds };
  if (raw.thresholds === undefined) refuseOrphans(reader, thresholds);
  refuseOtherPlay(reader, spec, judged);
  checkTags(reader, judged, scenarios);
  checkTemplates(reader, scenarios);
  checkBudget(reader, judged);
  return judged;
}

/** Thresholds of the sweep on checks that are gone. */
function refuseOrphans(reader: Reader, thresholds: readonly Threshold[]): void {
  for (const { metric, text } of thresholds) {
    const subject = 'subject' in metric ? metric.subject : undefined;
    if (subject?.kind !== 'check' || reader.names.checks.includes(subject.check)) continue;
    const message = `the sweep's threshold "${text}" is about the check "${subject.check}", which is not here`;
    reader.refuse(['checks'], message, 'keep the check, or write `thresholds` too');
  }
}

/** What conversations are played with stays: `retry` plays some of them again, and they must be like the others. */
function refuseOtherPlay(reader: Reader, before: SweepSpec, after: SweepSpec): void {
  const stop = before.conversation.stop?.check;
  const [was, is] = [before, after].map(({ checks }) => checks.find(({ name }) => name === stop));
  if (stop !== undefined && was !== undefined && !isSame(was, is)) {
    const what = is === undefined ? 'is not here' : 'asks something else here';
    const hint = 'keep it as the sweep has it (it may be `required: false` there and here)';
    reader.refuse(
      ['checks', ...(is === undefined ? [] : [stop])],
      `the conversations stop by "${stop}", which ${what}`,
      hint,
    );
  }
  const playing = [...playersOf(before), ...(was?.kind === 'judge' ? [was.model] : [])];
  for (const name of playing.filter((model) => !isSame(before.models[model], after.models[model]))) {
    const hint = 'give the entry of a judge another name';
    reader.refuse(['models', name], `the conversations were played with the model "${name}"`, hint);
  }
}

function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) => (value === undefined ? '' : canonicalJson(storedJson(value)));
  return text(a) === text(b);
}

function proveThresholds(
  reader: Reader,
  written: JsonObject,
  { thresholds, checks }: SweepSpec,
  planned: readonly PlannedRun[],
): void {
  const texts: readonly Json[] = Array.isArray(written.thresholds) ? written.thresholds : [];
  for (const threshold of thresholds) {
    const mistake = thresholdFeasible(threshold, planned, checks);
    if (mistake === undefined) continue;
    const index = texts.indexOf(threshold.text);
    const path = index === -1 ? [Object.keys(written)[0] ?? 'checks'] : ['thresholds', index];
    reader.refuse(path, mistake.message, mistake.hint);
  }
}
