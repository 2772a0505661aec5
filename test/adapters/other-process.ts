import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JournalEvent } from '../../domain/journal.ts';
import type { RunResult } from '../../domain/run.ts';
import type { ShardRecord, SweepRecord } from '../../domain/sweep-record.ts';

/** How another process makes the same store: `(await import(module))[name](argument)`. */
export type Maker = { readonly module: string; readonly name: string; readonly argument: unknown };

export type Order =
  | { readonly do: 'createSweep'; readonly record: SweepRecord; readonly shards: readonly ShardRecord[] }
  | { readonly do: 'putResult'; readonly result: RunResult }
  | { readonly do: 'open'; readonly run: string; readonly writer: string }
  | { readonly do: 'append'; readonly events: readonly JournalEvent[] }
  | { readonly do: 'flood'; readonly length: number };

export type OtherProcess = {
  /** Gives an order without waiting. */
  tell(order: Order): void;
  /** The next answer. */
  answer(): Promise<unknown>;
  ask(order: Order): Promise<unknown>;
  freeze(): void;
  thaw(): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
};

/** Starts a second process on the same store; resolves when it takes orders. */
export async function startOther(maker: Maker): Promise<OtherProcess> {
  const program = fileURLToPath(new URL('store-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(maker)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => {
    const line = await lines.next();
    if (line.done) throw new Error('the other process is gone');
    return JSON.parse(line.value);
  };
  const tell = (order: Order): void => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
  };
  await answer();
  return {
    tell,
    answer,
    ask: (order) => {
      tell(order);
      return answer();
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
