import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driverSigns } from '../../domain/driver-signs.ts';
import { driverPrompt, openingCue, readDriverReply } from '../../domain/managed-prompt.ts';
import { driverAnswer } from '../../practice/driver.ts';
import { parseRequest } from '../../practice/request.ts';
import { aDriverRequest, aPracticeModel, complete } from './practice-client.ts';

const brief = 'You are a customer, calm. You want a refund for order 4471. Your email is ada@example.com.';

/** What the driver of a brief says next: its text, or why it is done. */
function say(dialog: readonly string[], of: string = brief, seed = 0): string {
  const answer = driverAnswer(
    parseRequest(JSON.stringify({ model: 'practice', ...aDriverRequest(of, dialog) })),
    seed,
  );
  return answer.kind === 'text' ? answer.text : String(answer.args.reason);
}

describe('the practice driver', () => {
  it('opens with its wish and keeps its number back', () => {
    assert.match(say([]), /I want a refund for my order\.$/);
    assert.doesNotMatch(say([]), /4471/);
  });

  it('tells a fact when it is asked for it', () => {
    assert.match(say(['Hello.', 'What is your order number?']), /4471/);
    assert.match(say(['Hello.', 'Please tell me your email address.']), /ada@example\.com/);
  });

  it('says yes to an offer', () => {
    assert.equal(say(['Hello.', 'I see order 4471. Shall I refund it?']), 'Yes, please.');
  });

  it('ends with goal_met after a confirmation, and not after the promise of one', () => {
    assert.equal(say(['Hello.', 'The 20 EUR are refunded.']), 'goal_met');
    assert.notEqual(say(['Hello.', 'It will be refunded once it is checked.']), 'goal_met');
    assert.notEqual(say(['Hello.', 'Shall it be refunded?']), 'goal_met');
    assert.notEqual(say(['Hello.', 'It was not refunded.']), 'goal_met');
  });

  it('insists after the first no and ends with refused after the second', () => {
    const no = 'I am sorry, we cannot do that.';
    assert.match(say(['Hello.', no]), /^Are you sure\?/);
    assert.equal(say(['Hello.', no, 'Are you sure?', `Again: ${no}`]), 'refused');
  });

  it('ends with stuck when it hears the same for the third time', () => {
    const same = 'Please hold the line.';
    assert.notEqual(say(['a', same, 'b', same]), 'stuck');
    assert.equal(say(['a', same, 'b', same, 'c', same]), 'stuck');
  });

  it('waits for the words that its brief quotes', () => {
    const patient = `${brief} You are content once you hear "tracking number".`;
    assert.notEqual(say(['Hello.', 'It is refunded.'], patient), 'goal_met');
    assert.equal(say(['Hello.', 'Your tracking number is 7.'], patient), 'goal_met');
  });

  it('talks without end where its brief says nothing', () => {
    const dialog = Array.from({ length: 40 }, () => 'It is refunded.');
    assert.match(say(dialog, 'Be nice.'), /message 21/);
  });

  it('says the same to the same, and something else with another seed', () => {
    const texts = Array.from({ length: 20 }, (_, seed) => say([], brief, seed));
    assert.deepEqual(
      texts,
      Array.from({ length: 20 }, (_, seed) => say([], brief, seed)),
    );
    assert.ok(new Set(texts).size > 1);
  });

  it('shows no sign of a driver that left its role', () => {
    const angry = brief.replace('calm', 'angry');
    const heard = ['What is your order number?', 'We cannot do that.', 'Shall I go on?', 'Well.', ''];
    const said = [brief, angry, 'Be nice.'].flatMap((text) => [
      say([], text),
      ...heard.map((each) => say(['Hello.', each], text)),
    ]);
    assert.deepEqual(said.flatMap(driverSigns), []);
  });

  it('ends by the marker where it has no tool', async (test) => {
    const model = await aPracticeModel(test);
    const answer = await complete(model, {
      messages: [
        { role: 'system', content: driverPrompt({ prompt: brief, managed: true, tools: false }) },
        { role: 'user', content: openingCue },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'It is refunded.' },
      ],
    });
    const text = answer.choices[0]?.message.content ?? '';
    assert.deepEqual(readDriverReply({ text, toolCalls: [] }), {
      text: 'Thank you, that is all I wanted.',
      done: 'goal_met',
    });
    assert.equal(model.stats().by_role.driver, 1);
  });
});
