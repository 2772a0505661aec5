import { Worker } from 'node:worker_threads';
import type { Json } from '../../domain/json.ts';
import { hardLimitMb, watchMemory } from './memory-watch.ts';
import { type FromThread, type Problem, type ThreadData, type ToThread, takenBack } from './protocol.ts';

/** How a call ended in its thread. */
export type ThreadOutcome =
  | { readonly kind: 'answer'; readonly value?: Json }
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** The thread is gone; `culprit` names the call that brought it down, `own` whether it was this one. */
  | {
      readonly kind: 'gone';
      readonly reason: string;
      readonly isLoop: boolean;
      readonly own: boolean;
      readonly culprit?: string;
    }
  /** It had not begun, and was taken back. */
  | { readonly kind: 'taken_back' };

export type ThreadCall = {
  readonly url: string;
  readonly name: string;
  readonly input: Json;
  readonly isSpread: boolean;
  readonly label: string;
};

/** A call that was given to a thread. */
export type GivenCall = {
  readonly outcome: Promise<ThreadOutcome>;
  /**
   * Takes it back, if its thread has started and not begun it: the thread is held, and takes no new calls until it
   * says something.
   */
  takeBack(): void;
};

/** One worker thread. Its modules keep their state between calls, until it is stopped. */
export type Thread = {
  /** Unique in the process, never used again. */
  readonly number: number;
  /** The content hash of every module file that it may have loaded. */
  readonly loaded: Map<string, string>;
  /** Calls that were given to it and have not ended. The pool counts. */
  load: number;
  /** Sessions that were opened in it and not closed. The pool counts. */
  sessions: number;
  /** It takes no new calls: the project's files have changed. */
  isRetired: boolean;
  isGone(): boolean;
  /** It was asked whether it lives and has not answered yet. */
  isSuspect(): boolean;
  /** A call holds it without a pause, so that others do not begin. */
  isHeld(): boolean;
  call(call: ThreadCall): GivenCall;
  /** Asks whether it still answers; one that does not is stopped. */
  checkAlive(): Promise<boolean>;
  stop(): Promise<void>;
};

export type ThreadOptions = {
  readonly number: number;
  readonly memoryMb: number;
  /** How long a thread may take to show that it lives. */
  readonly pingMs: number;
  /** Takes what user code prints. */
  readonly log: (text: string) => void;
};

type Pending = { readonly label: string; readonly settle: (outcome: ThreadOutcome) => void };

const entry = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);

/** Starts a worker thread. Whatever user code does in it, the calls that it had end with an outcome. */
export function openThread({ number, memoryMb, pingMs, log }: ThreadOptions): Thread {
  const running = new SharedArrayBuffer(4);
  const worker = openWorker({ running }, memoryMb, log);
  const pending = new Map<number, Pending>();
  const labels = new Map<number, string>();
  let lastId = 0;
  let isReady = false;
  let isHeld = false;
  let gone: { readonly reason: string; readonly isLoop: boolean } | undefined;
  let ping: { readonly answered: Promise<boolean>; readonly pong: () => void } | undefined;

  const settle = (id: number, outcome: ThreadOutcome): void => {
    pending.get(id)?.settle(outcome);
    pending.delete(id);
    labels.delete(id);
    if (pending.size > 0) return;
    worker.unref();
    memory.stop();
  };
  const fail = (reason: string, isLoop = false): void => {
    if (gone !== undefined) return;
    gone = { reason, isLoop };
    const holder = Atomics.load(new Int32Array(running), 0);
    const culprit = holder !== 0 ? holder : pending.size === 1 ? [...pending.keys()][0] : undefined;
    const label = culprit === undefined ? undefined : labels.get(culprit);
    for (const id of [...pending.keys()]) {
      settle(id, {
        kind: 'gone',
        ...gone,
        own: id === culprit,
        ...(label === undefined ? {} : { culprit: label }),
      });
    }
    ping?.pong();
    worker.terminate();
  };

  const memory = watchMemory(worker, memoryMb, () => fail(overMemory(memoryMb)));
  worker.on('message', (message: FromThread) => {
    isReady = true;
    isHeld = false;
    if (message.kind === 'pong') ping?.pong();
    else settle(message.id, message);
  });
  worker.on('error', (error: Error) => fail(reasonOf(error, memoryMb)));
  worker.on('exit', (code) => fail(`ended its thread with process.exit(${code})`));

  return {
    number,
    loaded: new Map(),
    load: 0,
    sessions: 0,
    isRetired: false,
    isGone: () => gone !== undefined,
    isSuspect: () => ping !== undefined,
    isHeld: () => isHeld,
    call: ({ label, ...call }) => {
      const { promise, resolve } = Promise.withResolvers<ThreadOutcome>();
      lastId += 1;
      const id = lastId;
      const claim = new SharedArrayBuffer(4);
      if (gone !== undefined) resolve({ kind: 'gone', ...gone, own: false });
      else {
        pending.set(id, { label, settle: resolve });
        labels.set(id, label);
        worker.ref();
        memory.start();
        worker.postMessage({ kind: 'call', id, claim, ...call } satisfies ToThread);
      }
      return {
        outcome: promise,
        takeBack: () => {
          if (!isReady || Atomics.compareExchange(new Int32Array(claim), 0, 0, takenBack) !== 0) return;
          isHeld = true;
          worker.postMessage({ kind: 'ping' } satisfies ToThread);
          settle(id, { kind: 'taken_back' });
        },
      };
    },
    checkAlive: async () => {
      ping ??= openPing(pingMs, () => worker.postMessage({ kind: 'ping' } satisfies ToThread));
      const isAlive = await ping.answered;
      ping = undefined;
      if (!isAlive) fail(`held its thread without a pause`, true);
      return gone === undefined;
    },
    stop: async () => {
      gone ??= { reason: 'was stopped', isLoop: false };
      for (const id of [...pending.keys()]) settle(id, { kind: 'gone', ...gone, own: false });
      await worker.terminate();
    },
  };
}

function openWorker(data: ThreadData, memoryMb: number, log: (text: string) => void): Worker {
  const worker = new Worker(entry, {
    workerData: data,
    // Standard output belongs to results: what user code prints goes the way of prose.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: hardLimitMb(memoryMb) },
  });
  for (const output of [worker.stdout, worker.stderr]) output.setEncoding('utf8').on('data', log);
  worker.unref();
  return worker;
}

function openPing(
  ms: number,
  send: () => void,
): { readonly answered: Promise<boolean>; readonly pong: () => void } {
  let pong = (): void => {};
  const answered = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    pong = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
  send();
  return { answered, pong };
}

function reasonOf(error: Error, memoryMb: number): string {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? overMemory(memoryMb) : `brought its thread down: ${error.message}`;
}

function overMemory(memoryMb: number): string {
  return `used more than ${memoryMb} MB of memory`;
}
