import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { FaultCode } from '../../domain/fault.ts';
import type { RunResult } from '../../domain/run.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { json } from '../adapters/target-parts.ts';
import { type Desk, deskTarget, type Mood, openDesk, statelessTarget } from './desk-server.ts';
import {
  aFault,
  aProject,
  aStage,
  aTarget,
  chatTarget,
  echo,
  eventsOf,
  playOut,
  resultOf,
  type Script,
  type Stage,
  theSpec,
  toolCall,
  wordsOf,
} from './stretch-builders.ts';

type Came = Pick<RunResult, 'outcome' | 'blame'> & { readonly code: string | undefined };

function cameTo({ outcome, blame, fault, ending }: RunResult): Came {
  const code = fault?.code ?? (ending?.kind === 'target_error' ? ending.code : ending?.kind);
  return { outcome, code, ...(blame === undefined ? {} : { blame }) };
}

/** A model of one role that is at fault in its first `times` calls, from its second turn on. */
function faulty(role: string, code: FaultCode, times = Number.POSITIVE_INFINITY): Script {
  return (asked, count, signal) => {
    const blame =
      code === 'denied' || code === 'not_found' || code === 'invalid_request'
        ? 'configuration'
        : 'infrastructure';
    return asked.by === role && count > 1 && count <= 1 + times
      ? aFault(code, { blame })
      : echo(asked, count, signal);
  };
}

describe('a model at fault', () => {
  const rows: readonly (readonly [FaultCode, number, Came])[] = [
    ['denied', 1, { outcome: 'broken', code: 'denied', blame: 'configuration' }],
    ['not_found', 1, { outcome: 'broken', code: 'not_found', blame: 'configuration' }],
    ['invalid_request', 1, { outcome: 'broken', code: 'invalid_request', blame: 'configuration' }],
    ['bad_reply', 3, { outcome: 'broken', code: 'bad_reply', blame: 'infrastructure' }],
    ['too_large', 1, { outcome: 'broken', code: 'too_large', blame: 'infrastructure' }],
    ['context_full', 1, { outcome: 'passed', code: 'context_full' }],
    ['content_refused', 1, { outcome: 'passed', code: 'content_refused' }],
  ];
  for (const role of ['driver', 'target']) {
    for (const [code, tries, came] of rows) {
      it(`${code} of the ${role}'s model: tries ${tries}, then ${came.outcome}`, async (t) => {
        const stage = await aStage(t, { spec: theSpec(), script: faulty(role, code) });
        await playOut(stage.worker());
        const result = await resultOf(stage);
        assert.deepEqual(cameTo(result), came);
        assert.deepEqual(result.retries, tries === 1 ? {} : { [code]: tries - 1 });
        if (code === 'context_full') assert.deepEqual(result.ending, { kind: code, by: role });
      });
    }
  }

  for (const code of ['unavailable', 'timed_out'] as const) {
    it(`${code}: is tried eight times and for ten minutes at least`, async (t) => {
      const stage = await aStage(t, { spec: theSpec(), script: faulty('driver', code) });
      await playOut(stage.worker());
      const result = await resultOf(stage);
      assert.deepEqual(cameTo(result), { outcome: 'broken', code, blame: 'infrastructure' });
      assert.ok((result.retries[code] ?? 0) >= 7);
      const faults = (await eventsOf(stage)).filter((event) => event.kind === 'call' && event.code === code);
      const waits = faults.map((event) => ('wait_ms' in event ? (event.wait_ms ?? 0) : 0));
      assert.ok(waits.reduce((sum, ms) => sum + ms) >= 600_000, `${waits}`);
      assert.equal(result.playMs, 200, 'two calls were answered');
    });
  }

  it('that comes back costs the run nothing but tries', async (t) => {
    const whole = await aStage(t, { spec: theSpec() });
    await playOut(whole.worker());
    const stage = await aStage(t, { spec: theSpec(), script: faulty('target', 'unavailable', 5) });
    await playOut(stage.worker());
    assert.deepEqual(await wordsOf(stage), await wordsOf(whole));
    const { retries, playMs, outcome } = await resultOf(stage);
    assert.deepEqual([retries, playMs, outcome], [{ unavailable: 5 }, 600, 'passed']);
  });

  it('is given up after `give_up`, with its own code', async (t) => {
    const spec = theSpec({}, { giveUpMs: 3_000 });
    const stage = await aStage(t, { spec, script: faulty('driver', 'rate_limited') });
    await playOut(stage.worker());
    assert.deepEqual(cameTo(await resultOf(stage)), {
      outcome: 'broken',
      code: 'rate_limited',
      blame: 'infrastructure',
    });
  });
});

describe('a model that asks for patience', () => {
  it('gets it: no try, no play time, and longer waits each time', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: faulty('driver', 'rate_limited', 30) });
    await playOut(stage.worker());
    const result = await resultOf(stage);
    assert.deepEqual([result.outcome, result.playMs, result.retries], ['passed', 600, { rate_limited: 30 }]);
    const [first = 0] = stage.clock.slept;
    assert.ok((stage.clock.slept[4] ?? 0) > 4 * first, `${stage.clock.slept}`);
  });

  it('is waited for as long as it says', async (t) => {
    const script: Script = (asked, count, signal) =>
      count === 1 && asked.by === 'driver'
        ? aFault('rate_limited', { retryAfterMs: 7_000 })
        : echo(asked, count, signal);
    const stage = await aStage(t, { spec: theSpec(), script });
    await playOut(stage.worker());
    assert.deepEqual(stage.clock.slept, [7_000]);
  });

  it('for longer than a stretch waits leaves the wait to the workflow', async (t) => {
    const script: Script = (asked, count, signal) =>
      count === 1 && asked.by === 'driver'
        ? aFault('rate_limited', { retryAfterMs: 61_000 })
        : echo(asked, count, signal);
    const stage = await aStage(t, { spec: theSpec(), script });
    assert.deepEqual(await stage.worker().converse(), { kind: 'wait', waitMs: 61_000 });
    await playOut(stage.worker());
    const { outcome, resumptions, resent } = await resultOf(stage);
    assert.deepEqual([stage.clock.slept, outcome, resumptions, resent], [[], 'passed', 0, 0]);
  });
});

const answers =
  (path: string, status: number, times: number): Mood =>
  (call, count, response) => {
    if (call.path !== path || count > times) return undefined;
    json(response, { error: 'no' }, status);
    return 'done';
  };

const hangs =
  (path: string, times: number): Mood =>
  (call, count) =>
    call.path === path && count <= times ? 'done' : undefined;

const drops =
  (path: string, times: number): Mood =>
  (call, count, response) => {
    if (call.path !== path || count > times) return undefined;
    response.destroy();
    return 'done';
  };

async function playedAt(
  t: TestContext,
  mood: Mood,
  targetOf: (desk: Desk) => TargetSpec,
  spec: Partial<SweepSpec> = {},
): Promise<{ readonly result: RunResult; readonly desk: Desk; readonly stage: Stage }> {
  const desk = await openDesk(t, mood);
  const stage = await aStage(t, { spec: theSpec({ targets: [targetOf(desk)], ...spec }, { callMs: 150 }) });
  await playOut(stage.worker());
  return { result: await resultOf(stage), desk, stage };
}

describe('a target at fault', () => {
  const always = Number.POSITIVE_INFINITY;
  const failed = (code: string): Came => ({ outcome: 'failed', code, blame: 'target' });
  const configured = (code: string): Came => ({ outcome: 'broken', code, blame: 'configuration' });
  const rows: readonly (readonly [string, Mood, number, Came])[] = [
    ['answers 500', answers('/stateless', 500, always), 3, failed('unavailable')],
    ['hangs', hangs('/stateless', always), 3, failed('timed_out')],
    ['drops the connection', drops('/stateless', always), 3, failed('unavailable')],
    ['answers 401', answers('/stateless', 401, always), 1, configured('denied')],
    ['answers 404', answers('/stateless', 404, always), 1, configured('not_found')],
    ['answers 422', answers('/stateless', 422, always), 1, configured('invalid_request')],
    ['answers with something else', answers('/stateless', 200, always), 3, failed('bad_reply')],
  ];
  for (const [does, mood, tries, came] of rows) {
    it(`that ${does}: tries ${tries}, then ${came.outcome}`, async (t) => {
      const { result, desk } = await playedAt(t, mood, statelessTarget);
      assert.deepEqual(cameTo(result), came);
      assert.equal(desk.received.length, tries);
    });
  }

  it('has as many tries as its `retries:` say', async (t) => {
    const { desk } = await playedAt(t, answers('/stateless', 500, always), (it) =>
      statelessTarget(it, { retries: 5 }),
    );
    assert.equal(desk.received.length, 5);
  });

  it('for a moment costs a try', async (t) => {
    const { result } = await playedAt(t, answers('/stateless', 500, 2), statelessTarget);
    assert.deepEqual([result.outcome, result.retries], ['passed', { unavailable: 2 }]);
  });

  it('breaks the run with target_faults: broken', async (t) => {
    const { result } = await playedAt(t, answers('/stateless', 500, always), (it) =>
      statelessTarget(it, { targetFaults: 'broken' }),
    );
    assert.deepEqual(cameTo(result), { outcome: 'broken', code: 'unavailable', blame: 'target' });
  });

  it('fails every check of the run', async (t) => {
    const check = {
      kind: 'is_json',
      name: 'json',
      sees: 'replies',
      at: 'end',
      rollup: 'all',
      required: true,
      not: false,
    } as const;
    const { result } = await playedAt(t, answers('/stateless', 500, always), statelessTarget, {
      checks: [check],
    });
    assert.deepEqual(
      result.checks.map(({ check, verdict }) => [check, verdict]),
      [['json', 'fail']],
    );
  });

  it('that nobody can reach breaks the run', async (t) => {
    const { result } = await playedAt(
      t,
      () => undefined,
      (desk) =>
        aTarget({
          ...statelessTarget(desk),
          send: { url: 'http://127.0.0.1:1/', method: 'POST', headers: {}, reply: 'response' },
        }),
    );
    assert.deepEqual(cameTo(result), { outcome: 'broken', code: 'unavailable', blame: 'infrastructure' });
  });

  it('that hangs without end begins again, but only as often as its tries allow', async (t) => {
    const { result, desk } = await playedAt(t, hangs('/chat', always), deskTarget);
    assert.deepEqual(cameTo(result), failed('timed_out'));
    assert.deepEqual([desk.sessions.size, result.restarted], [3, 2]);
    assert.deepEqual(
      [...desk.sessions.values()].map((heard) => heard.length),
      [1, 1, 1],
    );
  });

  it('that hangs once begins again in a new session and ends well', async (t) => {
    const { result, desk } = await playedAt(t, hangs('/chat', 1), deskTarget);
    assert.deepEqual([result.outcome, result.restarted, result.turns], ['passed', 1, 3]);
    assert.equal(desk.sessions.get('s2')?.length, 3);
  });

  it('that hangs is sent the same again with on_unsure_turn: resend, after a wait', async (t) => {
    const { result, stage } = await playedAt(t, hangs('/chat', 1), (it) =>
      deskTarget(it, { onUnsureTurn: 'resend' }),
    );
    assert.deepEqual([result.outcome, result.restarted, result.resent], ['passed', 0, 1]);
    assert.equal(stage.clock.slept.length, 1);
  });

  it('that hangs without end and is sent the same again fails after its tries', async (t) => {
    const { result, desk } = await playedAt(t, hangs('/chat', always), (it) =>
      deskTarget(it, { onUnsureTurn: 'resend' }),
    );
    assert.deepEqual(cameTo(result), failed('timed_out'));
    assert.equal(desk.sessions.get('s1')?.length, 3);
  });

  it('that hangs breaks the run with on_unsure_turn: break', async (t) => {
    const { result } = await playedAt(t, hangs('/chat', 1), (it) =>
      deskTarget(it, { onUnsureTurn: 'break' }),
    );
    assert.deepEqual(cameTo(result), { outcome: 'broken', code: 'unsure_call', blame: 'infrastructure' });
  });

  it('that has lost its session begins again, but only as often as its tries allow', async (t) => {
    const { result, desk } = await playedAt(t, answers('/chat', 404, always), deskTarget);
    assert.deepEqual(cameTo(result), failed('lost_session'));
    assert.deepEqual([desk.sessions.size, result.restarted], [3, 2]);
  });

  it('that has lost its session fails at once with on_lost_session: break', async (t) => {
    const { result, desk } = await playedAt(t, answers('/chat', 404, 1), (it) =>
      deskTarget(it, { onLostSession: 'break' }),
    );
    assert.deepEqual(cameTo(result), failed('lost_session'));
    assert.equal(desk.sessions.size, 1);
  });

  it('that cannot open a session fails the run', async (t) => {
    const { result, desk } = await playedAt(t, answers('/sessions', 500, always), deskTarget);
    assert.deepEqual(cameTo(result), failed('unavailable'));
    assert.equal(desk.received.length, 3);
  });
});

describe('a target that gives session ids with its replies only', () => {
  it('is not called to open one, and has its session closed', async (t) => {
    const desk = await openDesk(t, ({ path }, count, response) => {
      if (path !== '/stateless') return undefined;
      json(response, { text: `reply ${count}`, session: 'own' });
      return 'done';
    });
    const { url } = desk;
    const send = {
      url: `${url}/stateless`,
      method: 'POST',
      headers: {},
      reply: 'response.text',
      sessionId: 'response.session',
    };
    const end = { url: `${url}/end`, method: 'POST', headers: {}, body: { session: '{session_id}' } };
    const stage = await aStage(t, { spec: theSpec({ targets: [aTarget({ kind: 'http', send, end })] }) });
    await playOut(stage.worker());
    const { usage, replySeconds } = await resultOf(stage);
    assert.deepEqual([usage.target.calls, replySeconds.length], [3, 3]);
    assert.deepEqual(desk.calls(), ['POST /stateless', 'POST /stateless', 'POST /stateless', 'POST /end']);
  });
});

describe('user code at fault', () => {
  it('fails the run where it is the target, and keeps its stack', async (t) => {
    const { project, module } = await aProject(t, {
      'desk.ts': 'export const reply = () => { throw new Error("no stock"); };',
    });
    const target = aTarget({ kind: 'module', module: await module('desk.ts') });
    const stage = await aStage(t, { spec: theSpec({ targets: [target] }), project });
    await playOut(stage.worker());
    const result = await resultOf(stage);
    assert.deepEqual(cameTo(result), { outcome: 'failed', code: 'module_error', blame: 'target' });
    assert.match(JSON.stringify(result.ending), /no stock.*desk\.ts:1/);
  });

  it('breaks the run where it cannot be loaded', async (t) => {
    const { project, module } = await aProject(t, { 'desk.ts': 'export const other = 1;' });
    const target = aTarget({ kind: 'module', module: await module('desk.ts') });
    const stage = await aStage(t, { spec: theSpec({ targets: [target] }), project });
    await playOut(stage.worker());
    assert.deepEqual(cameTo(await resultOf(stage)), {
      outcome: 'broken',
      code: 'not_found',
      blame: 'configuration',
    });
  });

  it('is never counted as a call where there is no session to open', async (t) => {
    const { project, module } = await aProject(t, { 'desk.ts': 'export const reply = () => "yes";' });
    const target = aTarget({ kind: 'module', module: await module('desk.ts') });
    const stage = await aStage(t, { spec: theSpec({ targets: [target] }), project });
    await playOut(stage.worker());
    const { usage, outcome } = await resultOf(stage);
    assert.deepEqual([usage.target.calls, outcome], [3, 'passed']);
  });
});

describe("a chat target's tool calls", () => {
  const tool = async (t: TestContext, text: string) => {
    const { project, module } = await aProject(t, { 'tool.ts': text });
    return {
      project,
      tools: [{ name: 'find', schema: { type: 'object' }, module: await module('tool.ts') }],
    };
  };
  const calling =
    (call: object): Script =>
    (asked, count, signal) =>
      asked.by === 'target' && asked.request.messages.at(-1)?.role === 'user'
        ? { toolCalls: [{ ...toolCall('find', { order: 1 }), ...call }] }
        : echo(asked, count, signal);

  it('of a tool that does not exist are told to the model', async (t) => {
    const { project, tools } = await tool(t, 'export default () => ({ result: 1 });');
    const stage = await aStage(t, {
      spec: theSpec({ targets: [chatTarget({ tools })] }),
      project,
      script: calling({ name: 'fnd' }),
    });
    await playOut(stage.worker());
    assert.match((await wordsOf(stage))[1] ?? '', /error: there is no tool fnd/);
  });

  it('with arguments that were cut off are told to the model', async (t) => {
    const { project, tools } = await tool(t, 'export default () => ({ result: 1 });');
    const cut = { args: undefined, argsText: '{"order": 44' };
    const stage = await aStage(t, {
      spec: theSpec({ targets: [chatTarget({ tools })] }),
      project,
      script: calling(cut),
    });
    await playOut(stage.worker());
    assert.match((await wordsOf(stage))[1] ?? '', /error: the arguments of find are not a JSON object/);
  });

  it('without end fail the run at max_tool_steps', async (t) => {
    const { project, tools } = await tool(t, 'export default () => ({ result: 1 });');
    const script: Script = (asked, count, signal) =>
      asked.by === 'target'
        ? { toolCalls: [toolCall('find', {}, `id${count}`)] }
        : echo(asked, count, signal);
    const spec = theSpec({ targets: [chatTarget({ tools, maxToolSteps: 4 })] });
    const stage = await aStage(t, { spec, project, script });
    await playOut(stage.worker());
    assert.deepEqual(cameTo(await resultOf(stage)), {
      outcome: 'failed',
      code: 'max_tool_steps',
      blame: 'target',
    });
    assert.equal(stage.models.asked.filter(({ by }) => by === 'target').length, 4);
  });

  it('have keys of their own, step by step', async (t) => {
    const { project, tools } = await tool(t, 'export default () => ({ result: 1 });');
    const stage = await aStage(t, {
      spec: theSpec({ targets: [chatTarget({ tools })] }),
      project,
      script: calling({}),
    });
    await playOut(stage.worker());
    const keys = stage.models.asked.flatMap(({ by, key }) => (by === 'target' ? [key] : []));
    assert.equal(new Set(keys).size, 6);
  });

  it('are recorded with arguments and results, in the turn that made them', async (t) => {
    const { project, tools } = await tool(
      t,
      'export default ({ args }) => ({ result: { found: args.order } });',
    );
    const stage = await aStage(t, {
      spec: theSpec({ targets: [chatTarget({ tools })] }),
      project,
      script: calling({}),
    });
    await playOut(stage.worker());
    const replies = (await eventsOf(stage)).filter(
      (event) => event.kind === 'message' && event.by === 'target',
    );
    assert.deepEqual(
      replies.map((event) => ('tool_calls' in event ? event.tool_calls : [])),
      [
        [{ name: 'find', args: { order: 1 }, result: { found: 1 } }],
        [{ name: 'find', args: { order: 1 }, result: { found: 1 } }],
        [{ name: 'find', args: { order: 1 }, result: { found: 1 } }],
      ],
    );
  });
});
