import type { ModelSpec, SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { aChatTarget, aJudgeCheck, aModel, aSpec } from '../sweep-builders.ts';
import type { World } from './world.ts';

/** How each worker is known to the world; too short to be taken for a secret in what is said. */
export const nameVariable = 'REGATTA_SECRET_WORKER';
const headers = { 'x-worker': `\${${nameVariable}}` };

/** One call's limit: a freeze or a hang may be longer. */
export const callMs = 10_000;

export const sides = ['chat', 'desk'] as const;
export type Side = (typeof sides)[number];

export type Pace = Pick<ModelSpec, 'maxInFlight'> & { readonly rpm?: number };

/** A sweep between two models and a judge, or between a model and the desk, which has sessions. */
export function stormSpec(
  side: Side,
  world: World,
  { seed, pace, window }: { readonly seed: number; readonly pace?: Pace; readonly window: number },
): SweepSpec {
  const conversation = `conversation ${side}-{input.order}`;
  return aSpec(aModel(world.modelUrl, { headers, ...pace }), {
    seed,
    concurrency: window,
    env: [nameVariable],
    driver: {
      ...{ kind: 'model', model: 'practice', temperature: 0.6, temperatureGiven: false, managed: false },
      prompt: `You are the customer of ${conversation}. Your order is {input.order}.`,
    },
    targets: [
      side === 'desk' ? deskTarget(world) : aChatTarget({ system: `You are the desk of ${conversation}.` }),
    ],
    checks: side === 'desk' ? [] : [aJudgeCheck({ rubric: `In ${conversation} the desk stays polite.` })],
    timeouts: { callMs, runMs: 1_800_000, giveUpMs: 86_400_000, sweepMs: 86_400_000, stretchMs: 20_000 },
  });
}

function deskTarget({ deskUrl }: World): TargetSpec {
  const ask = (path: string, body: Readonly<Record<string, string>>) => ({
    ...{ url: `${deskUrl}${path}`, method: 'POST', headers, body },
  });
  return {
    kind: 'http',
    start: { ...ask('/sessions', { conversation: 'desk-{input.order}' }), sessionId: 'response.id' },
    send: {
      ...ask('/chat', { session: '{session_id}', message: '{latest_message}' }),
      reply: 'response.text',
    },
    end: ask('/end', { session: '{session_id}' }),
    retries: 3,
    idempotent: false,
    onUnsureTurn: 'restart',
    onLostSession: 'restart',
    targetFaults: 'failed',
  };
}
