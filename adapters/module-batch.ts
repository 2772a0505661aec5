import type { CallOptions } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import { isJsonObject, type Json } from '../domain/json.ts';

/** Asks for one answer; calls that come together are asked for as one batch. */
export type Batch = (id: string, input: Json, options: CallOptions) => Promise<Answered>;

export type Answered = { readonly value: Json; readonly ms: number };

export type BatchParts = {
  readonly size: number;
  readonly file: string;
  /** Calls the user's function once. */
  readonly call: (
    items: Json,
    options: CallOptions,
  ) => Promise<{ readonly value?: Json; readonly ms: number }>;
};

type Waiting = {
  readonly id: string;
  readonly input: Json;
  readonly options: CallOptions;
  readonly settle: PromiseWithResolvers<Answered>;
};

/** A batch that is not full leaves so long after its first call. */
const patienceMs = 20;

/**
 * Gathers calls to `invokeBatch([{ id, inputValue }])`, which answers `[{ id, modelInvocation }]` (or the names with
 * underscores): `size` at most, or those of 20 ms. A call that is given up leaves the others alone; a batch without
 * callers is given up. An answer without an id that was asked for is a bad reply for that call alone.
 */
export function createBatch(parts: BatchParts): Batch {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting.filter(({ options }) => !options.signal.aborted);
    waiting = [];
    if (batch.length > 0) void sendBatch(batch, parts);
  };
  return (id, input, options) => {
    const settle = Promise.withResolvers<Answered>();
    const leave = () => settle.reject(options.signal.reason);
    if (options.signal.aborted) leave();
    options.signal.addEventListener('abort', leave, { once: true });
    waiting.push({ id, input, options, settle });
    if (waiting.length >= parts.size) send();
    else timer ??= setTimeout(send, patienceMs);
    return settle.promise.finally(() => options.signal.removeEventListener('abort', leave));
  };
}

async function sendBatch(batch: readonly Waiting[], { call, file }: BatchParts): Promise<void> {
  const items = batch.map(({ id, input }) => ({ id, inputValue: input }));
  const first = batch[0];
  if (first === undefined) return;
  try {
    const signal = allAborted(batch.map(({ options }) => options.signal));
    const { value, ms } = await call(items, { ...first.options, signal });
    const answers = answersIn(value, file);
    for (const { id, settle } of batch) {
      const answer = answers.get(id);
      if (answer === undefined) settle.reject(bad(file, `answered without the id ${id}`));
      else settle.resolve({ value: answer, ms });
    }
  } catch (error) {
    for (const { settle } of batch) settle.reject(error);
  }
}

function answersIn(value: Json | undefined, file: string): ReadonlyMap<string, Json> {
  if (!Array.isArray(value)) throw bad(file, 'answered with no list of { id, modelInvocation }');
  return new Map(
    value.map((item: Json) => {
      const invocation = isJsonObject(item) ? (item.modelInvocation ?? item.model_invocation) : undefined;
      if (!isJsonObject(item) || typeof item.id !== 'string' || invocation === undefined)
        throw bad(file, 'answered with an item that is no { id, modelInvocation }');
      return [item.id, invocation] as const;
    }),
  );
}

function bad(file: string, problem: string): Fault {
  return new Fault('bad_reply', `${file} invokeBatch() ${problem}`, { blame: 'target', endpoint: file });
}

/** Aborted once all of them are. */
function allAborted(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  let left = signals.length;
  for (const signal of signals) {
    const leave = () => {
      left -= 1;
      if (left === 0) controller.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }
  return controller.signal;
}
