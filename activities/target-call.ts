import type { TargetCall } from './ports.ts';
import type { Stretch } from './stretch.ts';

/** `<run>/<generation>/<message index>`: the same for each try of a call, and for no other call. */
export function idempotencyKeyOf(stretch: Stretch): string {
  const { generation, transcript } = stretch.now();
  return `${stretch.plan.run.id}/${generation}/${transcript.length}`;
}

/** What the target may know of the conversation as it stands. */
export function targetCallOf(stretch: Stretch, turn: number): TargetCall {
  const { run, scenario } = stretch.plan;
  const { transcript, session } = stretch.now();
  const latest = transcript.at(-1);
  return {
    runId: run.id,
    scenario,
    repeat: run.repeat,
    seed: run.seed,
    turn,
    transcript,
    ...(latest?.by === 'driver' ? { latestMessage: latest.text } : {}),
    ...(session.id === undefined ? {} : { sessionId: session.id }),
    idempotencyKey: idempotencyKeyOf(stretch),
  };
}

/** The facts of a call of a target that is not a chat model. */
export function callFactsOf(stretch: Stretch, turn: number) {
  const { variant, kind } = stretch.plan.target;
  return { role: 'target', called: 'target', model: variant ?? kind, turn } as const;
}
