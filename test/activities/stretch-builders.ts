import { appendFile, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Agent } from 'undici';
import type { Attempt } from '../../activities/attempt.ts';
import { createCatalog } from '../../activities/catalog.ts';
import { closeSession } from '../../activities/close-session.ts';
import { converse } from '../../activities/converse.ts';
import type {
  CallRecord,
  ChatModels,
  ChatReply,
  ChatRequest,
  Clock,
  Dependencies,
  JournalWriter,
  Store,
} from '../../activities/ports.ts';
import type { CloseInput, ConverseInput, StretchEnd } from '../../activities/run-work.ts';
import { score } from '../../activities/score-run.ts';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { partFile, runFolder } from '../../adapters/file-store/paths.ts';
import { sha256 } from '../../adapters/hash.ts';
import { allowHosts } from '../../adapters/hosts.ts';
import { moduleHash } from '../../adapters/module-hash.ts';
import { createModules, type ModuleHost } from '../../adapters/modules/index.ts';
import { compileRegex } from '../../adapters/regex.ts';
import { createSecrets } from '../../adapters/secrets.ts';
import { createTargets } from '../../adapters/targets.ts';
import type { Conversation } from '../../domain/conversation.ts';
import { foldConversation } from '../../domain/conversation.ts';
import { Fault, type FaultCode, type FaultDetails } from '../../domain/fault.ts';
import type { JournalEvent } from '../../domain/journal.ts';
import type { RunResult } from '../../domain/run.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { encodeEvents } from '../../formats/journal-lines.ts';
import { aModel, aScenario, aSpec, aSweep } from '../sweep-builders.ts';

export const runId = 'sweep/row/1';

// ---- Models -------------------------------------------------------------------------------------------------------

/** What a model was asked: `by` is the model's key (driver, target, judge). */
export type Asked = { readonly by: string; readonly request: ChatRequest; readonly key: string | undefined };
export type Said = string | Partial<ChatReply> | Error;
/** What a model does: says something, throws, or takes its time. `count` is the how-manieth call of this model it is. */
export type Script = (asked: Asked, count: number, signal: AbortSignal) => Said | Promise<Said>;

export type ScriptedModels = ChatModels & { readonly asked: Asked[] };

export function scriptedModels(script: Script, tools = true): ScriptedModels {
  const asked: Asked[] = [];
  return {
    asked,
    abilities: () => ({ tools, answerSchema: false }),
    probe: async () => ({ calls: 1 }),
    async chat({ name }, request, { signal, idempotencyKey }): Promise<ChatReply> {
      signal.throwIfAborted();
      const call = { by: name, request, key: idempotencyKey };
      asked.push(call);
      const said = await script(call, asked.filter(({ by }) => by === name).length, signal);
      if (said instanceof Error) throw said;
      const usage = { inputTokens: 10, outputTokens: 5, estimated: false };
      const reply = { text: '', toolCalls: [], usage, costUsd: 0.001, ms: 100, dropped: [] };
      return { ...reply, ...(typeof said === 'string' ? { text: said } : said) };
    },
  };
}

/** A model that answers what it was asked, so that a resumed conversation hears the same. */
export const echo: Script = ({ by, request }) => {
  const own = request.messages.filter(({ role }) => role === 'assistant').length;
  return by === 'judge'
    ? '{"reason":"fine","answer":"fail"}'
    : `${by} ${own + 1}: ${request.messages.at(-1)?.content}`;
};

export function toolCall(name: string, args: Record<string, string | number>, id = 'a') {
  return { id, name, args, argsText: JSON.stringify(args) };
}

export const endCall = (closing: string, reason = 'goal_met') => ({
  toolCalls: [toolCall('end_conversation', { reason, closing_message: closing })],
});

export function aFault(code: FaultCode, details: Partial<FaultDetails> = {}): Fault {
  return new Fault(code, `scripted ${code}`, { blame: 'infrastructure', ...details });
}

// ---- Specs --------------------------------------------------------------------------------------------------------

export const driver = {
  kind: 'model',
  model: 'driver',
  prompt: 'You are customer {input.order}.',
  temperature: 0.6,
  temperatureGiven: false,
  managed: false,
} as const;

const policies = {
  retries: 3,
  idempotent: false,
  onUnsureTurn: 'restart',
  onLostSession: 'restart',
  targetFaults: 'failed',
} as const;

export function aTarget(kind: object, fields: Partial<TargetSpec> = {}): TargetSpec {
  return { ...policies, ...kind, ...fields } as TargetSpec;
}

export const chatTarget = (fields: object = {}) =>
  aTarget({
    kind: 'chat',
    model: 'target',
    system: 'You are the desk.',
    dialog: [],
    tools: [],
    maxToolSteps: 10,
    ...fields,
  });

export const request = (url: string, more: object = {}) => ({ url, method: 'POST', headers: {}, ...more });

const timeouts = {
  callMs: 5_000,
  runMs: 1_800_000,
  giveUpMs: 86_400_000,
  sweepMs: 600_000,
  stretchMs: 300_000,
};

export function theSpec(
  fields: Partial<SweepSpec> = {},
  times: Partial<SweepSpec['timeouts']> = {},
): SweepSpec {
  const models = Object.fromEntries(
    ['driver', 'target', 'judge'].map((name) => [name, aModel('http://127.0.0.1:9', { name })]),
  );
  return aSpec(aModel(''), {
    models,
    driver,
    targets: [chatTarget()],
    conversation: { first: 'driver', maxTurns: 3 },
    timeouts: { ...timeouts, ...times },
    ...fields,
  });
}

// ---- The stage ----------------------------------------------------------------------------------------------------

/** A clock that never waits: a sleep moves it on. */
export type TestClock = Clock & { readonly slept: number[]; advance(ms: number): void };

export function aClock(): TestClock {
  let now = 1_000_000;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

export type StageParts = {
  readonly spec: SweepSpec;
  readonly script?: Script;
  readonly tools?: boolean;
  readonly scenario?: Partial<Scenario>;
  /** The folder that user code comes from. */
  readonly project?: string;
};

/** One run in a real store, and whatever plays it. */
export type Stage = {
  readonly deps: Dependencies;
  readonly models: ScriptedModels;
  readonly clock: TestClock;
  readonly folder: string;
  readonly store: Store;
  readonly metered: CallRecord[];
  /** A new worker: another process as far as modules can tell. Its store may be another one. */
  worker(store?: Store): Worker;
};

export type Worker = {
  readonly stop: AbortController;
  readonly abort: AbortController;
  converse(input?: Partial<ConverseInput>): Promise<StretchEnd>;
  score(input?: Partial<ConverseInput>): ReturnType<typeof score>;
  close(input?: Partial<CloseInput>): ReturnType<typeof closeSession>;
};

export const input: ConverseInput = {
  sweep: 'sweep',
  shard: 0,
  run: runId,
  generation: 1,
  stretchMs: 300_000,
  longestWaitMs: 60_000,
};

let attempts = 0;

export async function aStage(t: TestContext, parts: StageParts): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-stage-'));
  const store = createFileStore(join(folder, 'store'));
  const { record, shards } = aSweep('sweep', parts.spec, [aScenario('row', parts.scenario)]);
  await store.createSweep(record, shards);
  const models = scriptedModels(parts.script ?? echo, parts.tools);
  const clock = aClock();
  const agent = new Agent();
  const hosts: ModuleHost[] = [];
  const metered: CallRecord[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.close()));
    await agent.destroy();
    await rm(folder, { recursive: true, force: true });
  });

  const depsOn = (itsStore: Store): Dependencies => {
    const modules = createModules({
      projectFolder: parts.project ?? folder,
      hashModule: moduleHash,
      redact: (text) => text,
      log: () => {},
    });
    hosts.push(modules);
    const secrets = createSecrets({ env: {}, allowed: [] });
    return {
      clock,
      models,
      modules,
      targets: createTargets({ agent, secrets, checkHost: allowHosts([]), modules }),
      compileRegex,
      hash: sha256,
      store: itsStore,
      meter: { call: (call) => metered.push(call), turn() {}, runOpened() {}, runLeft() {}, runEnded() {} },
      contact: { hold: async () => {}, mayCall: () => true },
      drain: new AbortController().signal,
      proveEnv: () => {},
      nonce: () => 'n',
      version: 'test',
    };
  };

  const worker = (itsStore: Store = store): Worker => {
    const stop = new AbortController();
    const abort = new AbortController();
    const deps = depsOn(itsStore);
    const catalog = createCatalog(itsStore);
    const attempt = (): Attempt => {
      attempts += 1;
      const info = { currentAttemptScheduledTimestampMs: attempts, attempt: 1 };
      return { deps, catalog, info, signals: { stop: stop.signal, abort: abort.signal } };
    };
    return {
      stop,
      abort,
      converse: (more = {}) => converse(attempt(), { ...input, ...more }),
      score: (more = {}) => score(attempt(), { ...input, ...more }),
      close: (more = {}) => closeSession(attempt(), { ...input, cancelled: false, ...more }),
    };
  };
  return { deps: depsOn(store), models, clock, folder, store, metered, worker };
}

/** A folder of user code, and the reference to a file of it. */
export async function aProject(t: TestContext, files: Readonly<Record<string, string>>) {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'regatta-project-')));
  t.after(() => rm(project, { recursive: true, force: true }));
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  for (const [file, text] of Object.entries(files)) await writeFile(join(project, file), text);
  return { project, module: (file: string) => moduleHash(project, file) };
}

// ---- What came of it ----------------------------------------------------------------------------------------------

export async function eventsOf({ store }: Pick<Stage, 'store'>): Promise<readonly JournalEvent[]> {
  return (await store.readJournal(runId)).events;
}

export async function standing(stage: Pick<Stage, 'store'>): Promise<Conversation> {
  return foldConversation(await eventsOf(stage));
}

/** `by: text` of each message of the last generation. */
export async function wordsOf(stage: Pick<Stage, 'store'>): Promise<readonly string[]> {
  return (await standing(stage)).transcript.map(({ by, text }) => `${by}: ${text}`);
}

export async function resultOf({ store }: Pick<Stage, 'store'>): Promise<RunResult> {
  const result = await store.readResult(runId);
  if (result === undefined) throw new Error('the run has no result');
  return result;
}

/** Plays a run to its result as its workflow would, one stretch after the other. */
export async function playOut(worker: Worker, more: Partial<ConverseInput> = {}): Promise<void> {
  for (let stretch = 0; stretch < 100; stretch += 1) {
    const end = await worker.converse(more);
    if (end.kind === 'settled') return;
    if (end.kind !== 'over') continue;
    if (end.score && (await worker.score(more)).kind === 'settled') return;
    await worker.close(more);
    return;
  }
  throw new Error('a hundred stretches did not end it');
}

// ---- Crashes ------------------------------------------------------------------------------------------------------

/** Where a worker is killed: before the event of this index is written, after it, or half way through its line. */
export type Crash = { readonly at: number; readonly how: 'before' | 'after' | 'torn' };

export class Killed extends Error {}

/** A store of a worker that is killed: from then on nothing of it reaches the disk. */
export function killedStore(store: Store, crash: Crash): Store {
  let written = 0;
  const wrap = (writer: JournalWriter): JournalWriter => {
    let dead = false;
    return {
      ...writer,
      async append(events) {
        if (dead) throw new Killed();
        const left = crash.at - written;
        written += events.length;
        if (left >= events.length) return writer.append(events);
        dead = true;
        await appendRaw(store.address, writer.writer, cutLines(encodeEvents(events), left, crash.how));
        throw new Killed();
      },
      async flush() {
        if (dead) throw new Killed();
      },
    };
  };
  return { ...store, openJournal: async (run, writer) => wrap(await store.openJournal(run, writer)) };
}

/** The lines before the one of index `at`, and what is left of that one. */
function cutLines(text: string, at: number, how: Crash['how']): string {
  const lines = text.split(/(?<=\n)/);
  const line = lines[at] ?? '';
  const last = { before: '', after: line, torn: line.slice(0, Math.floor(line.length / 2)) };
  return lines.slice(0, at).join('') + last[how];
}

async function appendRaw(store: string, writer: string, text: string): Promise<void> {
  await appendFile(partFile(runFolder(store, runId), writer), text);
}
