import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Store } from '../../activities/ports.ts';
import { aCheck } from '../domain/checks/builders.ts';
import { type Desk, deskTarget, openDesk, statelessTarget } from './desk-server.ts';
import {
  aProject,
  aStage,
  aTarget,
  type Crash,
  chatTarget,
  driver,
  echo,
  eventsOf,
  Killed,
  killedStore,
  playOut,
  resultOf,
  type Script,
  type Stage,
  type StageParts,
  standing,
  theSpec,
  toolCall,
  wordsOf,
} from './stretch-builders.ts';

/** A world of its own for one play: the parts of a stage, and how many calls its target has had. */
type World = { readonly parts: StageParts; readonly targetCalls: () => number };
type OpenWorld = (t: TestContext) => Promise<World>;

const hows: readonly Crash['how'][] = ['before', 'after', 'torn'];

/** Plays once undisturbed, then once for each event and each way to die there; `judge` sees each resumed play. */
async function killEverywhere(
  t: TestContext,
  open: OpenWorld,
  judge: (
    resumed: Stage,
    crash: Crash,
    calls: { readonly whole: number; readonly resumed: number },
  ) => Promise<void>,
  ways: readonly Crash['how'][] = hows,
): Promise<void> {
  const world = await open(t);
  const whole = await aStage(t, world.parts);
  await playOut(whole.worker());
  const words = await wordsOf(whole);
  const callsOf = (stage: Stage, of: World) => stage.models.asked.length + of.targetCalls();
  const events = (await eventsOf(whole)).filter(({ kind }) => kind !== 'resumed');
  assert.ok(words.length >= 4, `it says something: ${words}`);
  for (let at = 0; at < events.length; at += 1) {
    for (const how of ways) {
      const its = await open(t);
      const stage = await aStage(t, its.parts);
      const crash = { at, how };
      await assert.rejects(playOut(stage.worker(killedStore(stage.store, crash))), Killed);
      await playOut(stage.worker());
      const name = `${how} event ${at} (${events[at]?.kind})`;
      assert.deepEqual(await wordsOf(stage), words, name);
      assert.deepEqual(await shapeOf(stage), await shapeOf(whole), name);
      await judge(stage, crash, { whole: callsOf(whole, world), resumed: callsOf(stage, its) });
    }
  }
}

/** What must not depend on a crash. */
async function shapeOf(stage: Stage) {
  const { transcript, state, ending } = await standing(stage);
  const { outcome, turns, toolCalls } = await resultOf(stage);
  return {
    ending,
    state,
    outcome,
    turns,
    toolCalls,
    messages: transcript.map(({ turn, toolCalls }) => [turn, toolCalls]),
  };
}

const oneRepeated = async (
  resumed: Stage,
  crash: Crash,
  calls: { readonly whole: number; readonly resumed: number },
): Promise<void> => {
  const more = calls.resumed - calls.whole;
  assert.ok(more === 0 || more === 1, `${more} calls more, killed ${crash.how} event ${crash.at}`);
  assert.ok((await resultOf(resumed)).resumptions <= 1);
};

const desk = async (
  t: TestContext,
  targetOf: (desk: Desk) => ReturnType<typeof deskTarget>,
): Promise<World> => {
  const open = await openDesk(t);
  return {
    parts: { spec: theSpec({ targets: [targetOf(open)] }) },
    targetCalls: () => open.received.length,
  };
};

describe('a worker that is killed at any moment, and another one that goes on', () => {
  it('leave the transcript, the tool state and the calls of a chat target as they were', async (t) => {
    const script: Script = (asked, count, signal) => {
      const last = asked.request.messages.at(-1);
      if (asked.by === 'target' && last?.role === 'user')
        return { toolCalls: [toolCall('count', { by: 2 })] };
      return echo(asked, count, signal);
    };
    await killEverywhere(
      t,
      async () => {
        const { project, module } = await aProject(t, {
          'count.ts': `export default ({ args, state }: { args: { by: number }; state: number | null }) => {
            const sum = (state ?? 0) + args.by;
            return { result: { sum }, state: sum };
          };`,
        });
        const tool = { name: 'count', schema: { type: 'object' }, module: await module('count.ts') };
        const spec = theSpec({
          targets: [chatTarget({ tools: [tool] })],
          conversation: { first: 'driver', maxTurns: 2 },
        });
        return { parts: { spec, script, project }, targetCalls: () => 0 };
      },
      oneRepeated,
      ['after'],
    );
  });

  it('send at most the message in flight again to a target without sessions', async (t) => {
    await killEverywhere(t, (test) => desk(test, statelessTarget), oneRepeated);
  });

  it('send at most the message in flight again to an idempotent target', async (t) => {
    let open: Desk | undefined;
    await killEverywhere(
      t,
      async (test) => {
        open = await openDesk(test);
        const its = open;
        const parts = { spec: theSpec({ targets: [statelessTarget(its, { idempotent: true })] }) };
        return { parts, targetCalls: () => its.received.length };
      },
      async (stage, crash, calls) => {
        await oneRepeated(stage, crash, calls);
        const keys = open?.received.map(({ headers }) => String(headers['idempotency-key'])) ?? [];
        assert.deepEqual([...new Set(keys)], ['sweep/row/1/1/1', 'sweep/row/1/1/3', 'sweep/row/1/1/5']);
      },
      ['before'],
    );
  });

  it('begin again in a new session where a message may have been heard', async (t) => {
    let open: Desk | undefined;
    await killEverywhere(
      t,
      async (test) => {
        open = await openDesk(test);
        const its = open;
        return {
          parts: { spec: theSpec({ targets: [deskTarget(its)] }) },
          targetCalls: () => its.received.length,
        };
      },
      async (stage) => {
        const result = await resultOf(stage);
        assert.ok(result.restarted <= 1);
        const heard = [...(open?.sessions.values() ?? [])].at(-1) ?? [];
        assert.equal(new Set(heard).size, heard.length, 'the last session heard nothing twice');
        assert.equal(heard.length, 3);
      },
    );
  });

  it('begin a script again too, with the turns that a model drives', async (t) => {
    const steps = [
      { kind: 'say', text: 'Hello' },
      { kind: 'drive', turns: 1 },
      { kind: 'say', text: 'Bye {input.order}' },
    ] as const;
    await killEverywhere(
      t,
      async (test) => {
        const its = await openDesk(test);
        const spec = theSpec({
          targets: [statelessTarget(its)],
          driver: { kind: 'script', steps, drive: driver },
        });
        return { parts: { spec }, targetCalls: () => its.received.length };
      },
      oneRepeated,
    );
  });

  it('keep the answers of a judge that is asked at each turn', async (t) => {
    const stop = aCheck(
      { kind: 'judge', model: 'judge', rubric: 'Is it settled?', answer: { kind: 'pass_fail' }, votes: 1 },
      { name: 'settled', sees: 'transcript', required: false },
    );
    const conversation = { first: 'driver', maxTurns: 3, stop: { check: 'settled', on: 'pass' } } as const;
    await killEverywhere(
      t,
      async () => ({ parts: { spec: theSpec({ checks: [stop], conversation }) }, targetCalls: () => 0 }),
      oneRepeated,
    );
  });

  it('begin again where the process that held the memory of a module is gone', async (t) => {
    await killEverywhere(
      t,
      async () => {
        const { project, module } = await aProject(t, {
          'desk.ts': `const sessions = new Map<string, number>();
            export const start = () => { sessions.set('s', 0); return 's'; };
            export const reply = ({ sessionId, messages }: { sessionId: string; messages: { content: string }[] }) => {
              const heard = (sessions.get(sessionId) ?? NaN) + 1;
              sessions.set(sessionId, heard);
              return heard + ': ' + messages.at(-1)?.content;
            };
            export const end = () => {};`,
        });
        const target = aTarget({ kind: 'module', module: await module('desk.ts') });
        return { parts: { spec: theSpec({ targets: [target] }), project }, targetCalls: () => 0 };
      },
      async (stage, crash) => {
        const { restarted } = await resultOf(stage);
        assert.ok(restarted <= 1, `${restarted} restarts, killed at ${crash.at}`);
      },
      ['before'],
    );
  });
});

/** Kills the worker in the call of the second turn, after the target heard the message. */
async function killedInFlight(
  t: TestContext,
  fields: object,
): Promise<{ readonly stage: Stage; readonly desk: Desk }> {
  const open = await openDesk(t);
  const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(open, fields)] }) });
  const whole = await aStage(t, { spec: theSpec({ targets: [deskTarget(await openDesk(t), fields)] }) });
  await playOut(whole.worker());
  const events = (await eventsOf(whole)).filter(({ kind }) => kind !== 'resumed');
  const at = events.findIndex(
    (event) => event.kind === 'call' && event.role === 'target' && event.turn === 2,
  );
  await assert.rejects(playOut(stage.worker(killedStore(stage.store, { at, how: 'before' }))), Killed);
  await playOut(stage.worker());
  return { stage, desk: open };
}

describe('a message to a session that may have been heard', () => {
  it('is sent again with on_unsure_turn: resend, and shown', async (t) => {
    const { stage, desk: open } = await killedInFlight(t, { onUnsureTurn: 'resend' });
    const result = await resultOf(stage);
    assert.deepEqual([result.resent, result.restarted, result.outcome], [1, 0, 'passed']);
    assert.equal(open.sessions.get('s1')?.length, 4);
  });

  it('breaks the run with on_unsure_turn: break', async (t) => {
    const { stage } = await killedInFlight(t, { onUnsureTurn: 'break' });
    const result = await resultOf(stage);
    assert.deepEqual(
      [result.outcome, result.fault?.code, result.blame],
      ['broken', 'unsure_call', 'infrastructure'],
    );
  });

  it('begins the conversation again with on_unsure_turn: restart, and closes the old session', async (t) => {
    const { stage, desk: open } = await killedInFlight(t, {});
    const result = await resultOf(stage);
    assert.deepEqual([result.resent, result.restarted, result.generation], [0, 1, 2]);
    assert.ok(result.usage.target.wastedCalls > 0);
    assert.deepEqual(open.calls().filter((call) => call === 'POST /end').length, 2);
  });

  it('is simply sent again to an idempotent target', async (t) => {
    const { stage } = await killedInFlight(t, { idempotent: true });
    const result = await resultOf(stage);
    assert.deepEqual([result.resent, result.restarted], [1, 0]);
  });
});

describe('a stretch that returned in order', () => {
  it('left no call of unknown fate', async (t) => {
    const open = await openDesk(t);
    const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(open)] }) });
    await playOut(stage.worker(), { stretchMs: 0 });
    const result = await resultOf(stage);
    assert.deepEqual(
      [result.resent, result.restarted, result.resumptions, result.outcome],
      [0, 0, 0, 'passed'],
    );
    assert.equal(open.sessions.size, 1);
    assert.equal(open.sessions.get('s1')?.length, 3);
  });

  it('takes one step at least, however short it is', async (t) => {
    const stage = await aStage(t, {
      spec: theSpec({ targets: [aTarget({ kind: 'script', replies: ['yes'] })] }),
    });
    assert.deepEqual(await stage.worker().converse({ stretchMs: 0 }), { kind: 'spent' });
    assert.equal((await wordsOf(stage)).length, 1);
  });
});

it('a run whose workers are lost five times without a new event is broken', async (t) => {
  const open = await openDesk(t);
  const stage = await aStage(t, { spec: theSpec({ targets: [statelessTarget(open)] }) });
  const first = killedStore(stage.store, { at: 3, how: 'before' });
  await assert.rejects(stage.worker(first).converse(), Killed);
  for (const at of [0, 0, 0, 0, 0]) {
    await assert.rejects(stage.worker(killedStore(stage.store, { at, how: 'before' })).converse(), Killed);
  }
  await playOut(stage.worker());
  const result = await resultOf(stage);
  assert.deepEqual([result.outcome, result.fault?.code], ['broken', 'worker_lost']);
});

it('a run whose workers are lost each time that it has begun again is broken too', async (t) => {
  const open = await openDesk(t);
  const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(open)] }) });
  let lost = 0;
  for (; lost < 20 && (await standing(stage)).broken === undefined; lost += 1) {
    await stage
      .worker(killedByReplies(stage.store))
      .converse()
      .catch(() => undefined);
  }
  assert.equal((await standing(stage)).broken?.code, 'worker_lost');
  assert.ok(lost <= 8, `${lost} workers were lost`);
});

/** The store of a worker that is killed by each reply of its target. */
function killedByReplies(store: Store): Store {
  return {
    ...store,
    openJournal: async (run, writer) => {
      const journal = await store.openJournal(run, writer);
      return {
        ...journal,
        append: async (events) => {
          if (events.some((event) => event.kind === 'message' && event.by === 'target')) throw new Killed();
          await journal.append(events);
        },
      };
    },
  };
}
