import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Faults } from '../../practice/faults.ts';
import type { SeenCall } from './seen-call.ts';

export type WorldOptions = {
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly seed: number;
  readonly faults: Faults;
};

/** All that is outside: a model and a desk, in a process of their own. */
export type World = {
  readonly modelUrl: string;
  readonly deskUrl: string;
  /** Every call so far, in the order of arrival. */
  calls(): Promise<readonly SeenCall[]>;
  stop(): void;
};

/** Starts the practice model, which fails as its seed says, and a desk, which does not. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const program = fileURLToPath(new URL('world-program.ts', import.meta.url));
  const child = fork(program, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [urls] = (await once(child, 'message')) as [Pick<World, 'modelUrl' | 'deskUrl'>];
  return {
    ...urls,
    async calls() {
      child.send('calls');
      const [calls] = (await once(child, 'message')) as [readonly SeenCall[]];
      return calls;
    },
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}
