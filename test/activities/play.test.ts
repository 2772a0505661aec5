import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driverPrompt, managedVersion, openingCue } from '../../domain/managed-prompt.ts';
import {
  aStage,
  aTarget,
  chatTarget,
  driver,
  echo,
  endCall,
  eventsOf,
  playOut,
  resultOf,
  type Script,
  standing,
  theSpec,
  wordsOf,
} from './stretch-builders.ts';

const secret = {
  driver: { ...driver, prompt: 'DRIVER PROMPT' },
  targets: [chatTarget({ system: 'TARGET PROMPT' })],
};

/** The driver's model says these, one after the other, then `more`. */
const says =
  (...said: ReturnType<Script>[]): Script =>
  (asked, count, signal) =>
    asked.by === 'driver' ? (said[count - 1] ?? 'more') : echo(asked, count, signal);

describe('both sides of a conversation', () => {
  it('see themselves as assistant and the other as user', async (t) => {
    const stage = await aStage(t, { spec: theSpec(secret) });
    await playOut(stage.worker());
    const last = (by: string) => stage.models.asked.findLast((asked) => asked.by === by)?.request.messages;
    const roles = (by: string) => last(by)?.map(({ role }) => role);
    assert.deepEqual(roles('driver'), ['system', 'user', 'assistant', 'user', 'assistant', 'user']);
    assert.deepEqual(roles('target'), ['system', 'user', 'assistant', 'user', 'assistant', 'user']);
    const words = await wordsOf(stage);
    assert.equal(`driver: ${last('driver')?.[2]?.content}`, words[0]);
    assert.equal(`target: ${last('driver')?.[3]?.content}`, words[1]);
  });

  it("never see the other's prompt", async (t) => {
    const stage = await aStage(t, { spec: theSpec(secret) });
    await playOut(stage.worker());
    for (const { by, request } of stage.models.asked) {
      const text = JSON.stringify(request);
      assert.equal(text.includes('TARGET PROMPT'), by === 'target');
      assert.equal(text.includes('DRIVER PROMPT'), by === 'driver');
    }
  });

  it('begin with a neutral cue for the driver, which is no part of the transcript', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says('Hi') });
    await playOut(stage.worker());
    assert.equal(stage.models.asked[0]?.request.messages.at(-1)?.content, openingCue);
    assert.equal((await wordsOf(stage)).filter((words) => words.includes(openingCue)).length, 0);
  });

  it('begin with the greeting of a target that speaks first, from an empty history', async (t) => {
    const stage = await aStage(t, { spec: theSpec({ conversation: { first: 'target', maxTurns: 1 } }) });
    await playOut(stage.worker());
    const [first, second] = stage.models.asked;
    assert.deepEqual([first?.by, first?.request.messages.map(({ role }) => role)], ['target', ['system']]);
    assert.deepEqual(
      second?.request.messages.map(({ role }) => role),
      ['system', 'user'],
    );
    const { transcript } = await standing(stage);
    assert.deepEqual(
      transcript.map(({ by, turn }) => [by, turn]),
      [
        ['target', 0],
        ['driver', 1],
        ['target', 1],
      ],
    );
    assert.equal((await resultOf(stage)).turns, 1);
  });

  it('are recorded with what they are played with', async (t) => {
    const spec = theSpec({ ...secret, driver: { ...secret.driver, managed: true } });
    const stage = await aStage(t, { spec });
    await playOut(stage.worker());
    const opened = (await eventsOf(stage)).find((event) => event.kind === 'opened');
    assert.deepEqual(
      [opened?.prompts, opened?.managed, opened?.managed_version],
      [{ driver: 'DRIVER PROMPT', target: 'TARGET PROMPT' }, true, managedVersion],
    );
    const system = stage.models.asked[0]?.request.messages[0]?.content;
    assert.equal(system, driverPrompt({ prompt: 'DRIVER PROMPT', managed: true, tools: true }));
  });
});

describe('a driver that is done', () => {
  it('has its closing message delivered and answered once more', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says('Hi', endCall('Thanks, bye')) });
    await playOut(stage.worker());
    const words = await wordsOf(stage);
    assert.equal(words[2], 'driver: Thanks, bye');
    assert.equal(words.length, 4);
    assert.deepEqual((await resultOf(stage)).ending, { kind: 'driver_done', reason: 'goal_met' });
  });

  it('says so in text where its model has no tools', async (t) => {
    const stage = await aStage(t, {
      spec: theSpec(),
      tools: false,
      script: says('Hi', 'I give up.\n[[end: refused]]'),
    });
    await playOut(stage.worker());
    assert.equal((await wordsOf(stage))[2], 'driver: I give up.');
    assert.deepEqual((await resultOf(stage)).ending, { kind: 'driver_done', reason: 'refused' });
    assert.equal(stage.models.asked[0]?.request.tools, undefined);
  });

  it('may leave without a word once it has heard an answer', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says('Hi', endCall('')) });
    await playOut(stage.worker());
    assert.equal((await wordsOf(stage)).length, 2);
    assert.deepEqual((await resultOf(stage)).ending, { kind: 'driver_done', reason: 'goal_met' });
  });

  it('may not leave without a word before it has said anything', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says(endCall(''), 'Hi') });
    await playOut(stage.worker());
    assert.equal((await wordsOf(stage))[0], 'driver: Hi');
  });
});

describe('a driver message that no person would write', () => {
  it('is asked for again twice, and paid for', async (t) => {
    const stage = await aStage(t, {
      spec: theSpec(),
      script: says('', '{"name": "f", "arguments": {}}', 'Hi'),
    });
    await playOut(stage.worker());
    const { usage, markedMessages } = await resultOf(stage);
    assert.equal((await wordsOf(stage))[0], 'driver: Hi');
    assert.deepEqual([usage.driver.calls, usage.driver.wastedCalls, markedMessages], [5, 2, 0]);
  });

  it('breaks the run where it is still empty, and the driver is to blame', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says('', ' ', '...') });
    await playOut(stage.worker());
    const { outcome, blame, fault, usage } = await resultOf(stage);
    assert.deepEqual(
      [outcome, blame, fault?.code, usage.driver.calls],
      ['broken', 'driver', 'driver_unfit', 3],
    );
  });

  it('is kept and marked where it still leaves its role', async (t) => {
    const helpful = 'How can I help you today?';
    const stage = await aStage(t, { spec: theSpec(), script: says(helpful, helpful, helpful, 'Hi') });
    await playOut(stage.worker());
    const { transcript } = await standing(stage);
    assert.deepEqual([transcript[0]?.text, transcript[0]?.marks], [helpful, ['offers_help']]);
    assert.equal((await resultOf(stage)).markedMessages, 1);
  });

  it('is not asked for more often when the worker changes', async (t) => {
    const stage = await aStage(t, { spec: theSpec(), script: says('', '', '', 'Hi') });
    await playOut(stage.worker(), { stretchMs: 0 });
    assert.equal((await resultOf(stage)).fault?.code, 'driver_unfit');
    assert.equal(stage.models.asked.length, 3);
  });
});

describe('drivers without a free model', () => {
  it('say the input of a single-turn row, and nothing else', async (t) => {
    const spec = theSpec({
      driver: { kind: 'none' },
      targets: [aTarget({ kind: 'script', replies: ['ok'] })],
    });
    const stage = await aStage(t, { spec, scenario: { input: 'What is the time?' } });
    await playOut(stage.worker());
    assert.deepEqual(await wordsOf(stage), ['driver: What is the time?', 'target: ok']);
    assert.deepEqual((await resultOf(stage)).ending, { kind: 'script_done' });
  });

  it('play a script to its end, past max_turns, with the turns that a model drives', async (t) => {
    const steps = [
      { kind: 'say', text: 'Order {input.order}' },
      { kind: 'drive', turns: 2 },
      { kind: 'say', text: 'Bye' },
    ] as const;
    const spec = theSpec({
      driver: { kind: 'script', steps, drive: driver },
      conversation: { first: 'driver', maxTurns: 1 },
    });
    const stage = await aStage(t, { spec, script: says('one', 'two') });
    await playOut(stage.worker());
    const own = (await wordsOf(stage)).filter((words) => words.startsWith('driver'));
    assert.deepEqual(own, ['driver: Order 4471', 'driver: one', 'driver: two', 'driver: Bye']);
  });
});

it('play time alone ends a run: the times of its successful calls', async (t) => {
  const stage = await aStage(t, { spec: theSpec({}, { runMs: 350 }) });
  await playOut(stage.worker());
  const { ending, turns, playMs } = await resultOf(stage);
  assert.deepEqual([ending, turns, playMs], [{ kind: 'time_limit' }, 2, 400]);
});

it('a path that the conversation lacks is a matter of configuration', async (t) => {
  const spec = theSpec({ targets: [chatTarget({ system: 'They said {message_history.5.content}' })] });
  const stage = await aStage(t, { spec });
  await playOut(stage.worker());
  const { outcome, blame, fault } = await resultOf(stage);
  assert.deepEqual([outcome, blame, fault?.code], ['broken', 'configuration', 'invalid_request']);
});
