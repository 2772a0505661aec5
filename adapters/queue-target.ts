import type { Target } from '../activities/ports.ts';

/** A target whose turns are asked for by the workflow, on a queue of its own: there is nothing to open or to end. */
export function createQueueTarget(): Target {
  return {
    sessions: false,
    start: async () => ({ ms: 0 }),
    reply: async () => {
      throw new Error('a queue target is asked by the workflow');
    },
    end: async () => {},
  };
}
