import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { NotJson, toJson } from './answer.ts';
import { begun, type FromThread, type Problem, type ThreadData, type ToThread } from './protocol.ts';

// The entry of a worker thread: it runs user code and answers the pool, whatever that code does.

const running = new Int32Array((workerData as ThreadData).running);
const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');

const say = (message: FromThread): void => port.postMessage(message);
const complain = (what: string) => (error: unknown) =>
  console.error(`${what} in a module: ${describe(error)}`);

// The process may keep fewer frames for its workflows; a user reads more of them.
Error.stackTraceLimit = 10;

// A promise that nobody awaits must not take down the thread with the sessions of everybody else.
process.on('unhandledRejection', complain('unhandled rejection'));
process.on('uncaughtException', complain('uncaught exception'));

port.on('message', async (message: ToThread) => {
  if (message.kind === 'ping') return say({ kind: 'pong' });
  const { id, claim } = message;
  if (Atomics.compareExchange(new Int32Array(claim), 0, 0, begun) !== 0) return;
  const outcome = await answerTo(message);
  say('problem' in outcome ? { kind: 'problem', id, ...outcome } : { kind: 'answer', id, ...outcome });
});

// It takes calls from now on.
say({ kind: 'pong' });

type Call = Extract<ToThread, { kind: 'call' }>;
type Outcome = { readonly value?: ReturnType<typeof toJson> } | { readonly problem: Problem };

async function answerTo(call: Call): Promise<Outcome> {
  try {
    const loaded = await load(call);
    if ('problem' in loaded) return loaded;
    const called = loaded.exports[call.name];
    if (typeof called !== 'function') {
      return { problem: { kind: 'no_export', exports: Object.keys(loaded.exports) } };
    }
    const value: unknown = await withoutPause(call.id, () =>
      call.isSpread && Array.isArray(call.input) ? called(...call.input) : called(call.input),
    );
    return value === undefined ? {} : { value: toJson(value) };
  } catch (error) {
    return {
      problem: error instanceof NotJson ? { kind: 'not_json', message: error.message } : threw(error),
    };
  }
}

/** Marks the call while its code holds the thread, so that the pool knows whom to blame for a loop. */
function withoutPause<T>(id: number, run: () => T): T {
  Atomics.store(running, 0, id);
  try {
    return run();
  } finally {
    Atomics.store(running, 0, 0);
  }
}

type Loaded = { readonly exports: Record<string, unknown> } | { readonly problem: Problem };

async function load({ id, url }: Call): Promise<Loaded> {
  // A module may loop while it is loaded, too.
  Atomics.store(running, 0, id);
  try {
    return { exports: (await import(url)) as Record<string, unknown> };
  } catch (error) {
    return { problem: isLoadError(error) ? loadProblem(error) : threw(error) };
  } finally {
    Atomics.store(running, 0, 0);
  }
}

/** A compiler's errors begin with the place; an error that the module's code threw begins with its name. */
function isLoadError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const isCompilers = error instanceof SyntaxError && !(error.stack ?? '').startsWith('SyntaxError');
  return (
    isCompilers || /^ERR_(MODULE_NOT_FOUND|PACKAGE|UNSUPPORTED|INVALID|UNKNOWN_FILE)/.test(codeOf(error))
  );
}

function loadProblem(error: Error): Problem {
  return { kind: 'load', code: codeOf(error), message: error.message, stack: error.stack ?? '' };
}

function threw(error: unknown): Problem {
  return { kind: 'threw', stack: describe(error) };
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : inspect(error, { depth: 2 });
}
