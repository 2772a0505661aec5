import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Modules } from '../../activities/ports.ts';
import { type Blame, Fault } from '../../domain/fault.ts';
import type { Json } from '../../domain/json.ts';
import type { ModuleRef } from '../../domain/sweep-spec.ts';
import { UsageError } from '../../domain/usage-error.ts';
import { openDeadline } from '../deadline.ts';
import { type CallName, goneFault, problemFault, tidyStack } from './faults.ts';
import { createPool, type Pool } from './pool.ts';
import type { GivenCall, Thread, ThreadOutcome } from './thread-host.ts';

export type ModulesOptions = {
  readonly projectFolder: string;
  /** Hashes a module; throws `UsageError` for one that is missing or outside the project. */
  readonly hashModule: (projectFolder: string, file: string) => Promise<Pick<ModuleRef, 'sha256'>>;
  readonly redact: (text: string) => string;
  /** Takes what user code prints (standard error). */
  readonly log: (text: string) => void;
  /** Default 2. */
  readonly threads?: number;
  /** Heap of one thread; default 256. */
  readonly memoryMb?: number;
  /** How long a thread that is over a call's time may take to show that it lives; default 2,000. */
  readonly pingMs?: number;
  /** How often a call that has not begun is looked at, to be given to another thread; default 50. */
  readonly heldMs?: number;
};

export type SeatedOptions = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly blame: Blame;
  /** The thread that must answer, where it is still there; absent: any. */
  readonly seat?: number;
  /** Opens a session in its thread (with a sessionless answer: none), or closes one. */
  readonly session?: 'opens' | 'closes';
  /** The input is a list of arguments; else it is the only one. */
  readonly isSpread?: boolean;
};

/** The answer, and the thread that gave it; or there is no such export. */
export type Seated =
  | { readonly kind: 'answer'; readonly value?: Json; readonly seat: number }
  | { readonly kind: 'no_export' };

/** User modules in worker threads, with what targets with memory need: to be answered by the same thread again. */
export type ModuleHost = Modules & {
  /** Names this process and its threads. */
  readonly home: string;
  /** Like `call`; a seat that is gone is a `Fault` lost_session, an export that is missing an answer of its own. */
  callSeated(module: ModuleRef, name: string, input: Json, options: SeatedOptions): Promise<Seated>;
  /** Stops every thread; calls in flight end with a fault. */
  close(): Promise<void>;
};

/**
 * Runs the project's modules. Every file is a module of its own in each thread, and keeps its state there between
 * calls. A call over its time is given up; its thread goes on if it still answers, and is stopped if it does not:
 * then the call that holds it is timed out, and the others in it are unavailable, of unknown fate. This guards against
 * accidents, not against malice: it is the user's own code.
 */
export function createModules(options: ModulesOptions): ModuleHost {
  const { threads = 2, memoryMb = 256, pingMs = 2_000, log } = options;
  const pool = createPool({ size: threads, memoryMb, pingMs, log });
  const context = { options, pool, prove: (module: ModuleRef) => proveModule(module, options) };
  const callSeated: ModuleHost['callSeated'] = (...call) => callIn(context, ...call);
  return {
    home: `${process.pid}-${randomUUID().slice(0, 8)}`,
    callSeated,
    call: async (module, name, input, callOptions) => {
      const answer = await callIn(context, module, name, input, { ...callOptions, isRequired: true });
      return answer.kind === 'answer' ? answer.value : undefined;
    },
    prove: context.prove,
    close: () => pool.close(),
  };
}

const mostThreadsTried = 4;

type Context = {
  readonly options: ModulesOptions;
  readonly pool: Pool;
  readonly prove: (module: ModuleRef) => Promise<void>;
};

async function callIn(
  { options, pool, prove }: Context,
  module: ModuleRef,
  name: string,
  input: Json,
  call: SeatedOptions & { readonly isRequired?: boolean },
): Promise<Seated> {
  const { file } = module;
  const { heldMs = 50 } = options;
  const { session, isSpread = false, seat } = call;
  const folder = await realpath(options.projectFolder);
  const project = { folder, url: pathToFileURL(folder).href };
  const named: CallName = { file, name, tidy: (stack) => options.redact(tidyStack(stack, project)) };
  const where = { ...(seat === undefined ? {} : { seat }), opens: session === 'opens' };
  for (let tries = 1; ; tries += 1) {
    const thread = await pool.take(module, where, () => prove(module));
    let opened = false;
    try {
      const url = pathToFileURL(await realpath(resolve(folder, file))).href;
      const given = thread.call({ url, name, input, isSpread, label: `${file} ${name}()` });
      // A session's thread must be waited for; others have what the held one has.
      const patience =
        seat === undefined && tries < mostThreadsTried ? setInterval(given.takeBack, heldMs) : undefined;
      const outcome = await within(thread, given, call, named).finally(() => clearInterval(patience));
      switch (outcome.kind) {
        case 'taken_back':
          continue;
        case 'answer':
          opened = session === 'opens';
          return { ...outcome, kind: 'answer', seat: thread.number };
        case 'problem':
          if (outcome.problem.kind === 'no_export' && call.isRequired !== true) return { kind: 'no_export' };
          throw problemFault(outcome.problem, named, call.blame);
        case 'gone':
          throw goneFault(outcome, named, call.blame);
      }
    } finally {
      if (session === 'closes' || (session === 'opens' && !opened)) thread.sessions -= 1;
      pool.giveBack(thread);
    }
  }
}

/** The outcome in time. A caller who gives up gets its reason at once; time that is over asks the thread first. */
async function within(
  thread: Thread,
  { outcome }: GivenCall,
  { timeoutMs, signal, blame }: SeatedOptions,
  { file, name }: CallName,
): Promise<ThreadOutcome> {
  const deadline = openDeadline(timeoutMs, signal);
  try {
    return await Promise.race([outcome, aborted(deadline.signal)]);
  } catch {
    const alive = thread.checkAlive();
    if (!deadline.isOver()) throw signal.reason;
    if (!(await alive)) return await outcome;
    const message = `${file} ${name}() gave no answer in time (${timeoutMs} ms)`;
    throw new Fault('timed_out', message, { blame, endpoint: file, unsure: true });
  } finally {
    deadline.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function proveModule({ file, sha256 }: ModuleRef, options: ModulesOptions): Promise<void> {
  const found = await hashOf(file, options);
  if (found === sha256) return;
  const message = `${file} has other content than the sweep was planned with`;
  throw new Fault('invalid_request', message, { blame: 'configuration', endpoint: file });
}

async function hashOf(file: string, { projectFolder, hashModule }: ModulesOptions): Promise<string> {
  try {
    return (await hashModule(projectFolder, file)).sha256;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new Fault('not_found', error.message, { blame: 'configuration', endpoint: file, cause: error });
  }
}
