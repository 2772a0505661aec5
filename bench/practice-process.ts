import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PracticeStats } from '../practice/stats.ts';

export type Seen = {
  readonly url: string;
  /** Epoch milliseconds, to about 5 ms; absent before the first call. Probes are no calls. */
  readonly firstCallAt?: number;
  readonly stats: PracticeStats;
};

export type PracticeProcess = {
  /** Forgets all calls. */
  reset(): Promise<Seen>;
  seen(): Promise<Seen>;
  stop(): void;
};

/** Starts a practice model in a process of its own. */
export function startPracticeProcess(latencyMs: number): PracticeProcess {
  const program = fileURLToPath(new URL('practice-program.ts', import.meta.url));
  const child = fork(program, [String(latencyMs)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let waiting: Promise<unknown> = Promise.resolve();
  /** One question at a time: answers carry no number. */
  function ask(question: 'reset' | 'seen'): Promise<Seen> {
    const answer = waiting.then(async () => {
      child.send(question);
      const [seen] = (await once(child, 'message')) as [Seen];
      return seen;
    });
    waiting = answer.catch(() => {});
    return answer;
  }
  return { reset: () => ask('reset'), seen: () => ask('seen'), stop: () => child.disconnect() };
}
