import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { JudgeAnswer } from '../../domain/check.ts';
import { answerSchema, readOpinion } from '../../domain/checks/judge-answer.ts';
import {
  judgePrompt,
  verdictTool,
  type WayOfAsking,
  waysOfAsking,
} from '../../domain/checks/judge-prompt.ts';
import { isJsonObject } from '../../domain/json.ts';
import { judgeAnswer } from '../../practice/judge.ts';
import { parseRequest, roleOf } from '../../practice/request.ts';
import { aTool } from './practice-client.ts';

/** What the practice judge answers to a rubric about one reply, as regatta reads it. */
function judge(reply: string, rubric: string, answer: JudgeAnswer, way: WayOfAsking = 'schema') {
  const message = { turn: 1, toolCalls: [] };
  const evidence = {
    scenario: { id: 'a', input: 'a', tags: [], meta: {} },
    run: { id: 's/a/1', repeat: 1, seed: 1 },
    transcript: [
      { ...message, by: 'driver', text: 'Whatever, you idiot!' },
      { ...message, by: 'target', text: reply },
    ],
    numbers: [],
  } as const;
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const { system, user } = judgePrompt({ rubric, answer, sees: 'transcript' }, evidence, way, hash);
  const schema = answerSchema(answer);
  const request = parseRequest(
    JSON.stringify({
      model: 'practice',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      ...(way === 'schema' && {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      }),
      ...(way === 'tool' && {
        tools: [aTool(verdictTool, schema)],
        tool_choice: { type: 'function', function: { name: verdictTool } },
      }),
    }),
  );
  assert.equal(roleOf(request), 'judge');
  const said = judgeAnswer(request);
  return readOpinion(
    said.kind === 'text'
      ? { text: said.text }
      : { text: '', ...(isJsonObject(said.args) && { args: said.args }) },
    answer,
  );
}

const passFail = { kind: 'pass_fail' } as const;
const scale = { kind: 'scale', from: 1, to: 5 } as const;
const choices = { kind: 'choices', scores: { solved: 1, half: 0.5, lost: 0 } } as const;

describe('the practice judge', () => {
  for (const way of waysOfAsking) {
    it(`answers when it is asked by ${way}`, () => {
      const rubric = 'The desk settles it (refund of 20 EUR).';
      assert.equal(judge('The refund of 20 EUR is done.', rubric, passFail, way).score, 1);
      assert.equal(judge('No.', rubric, passFail, way).score, 0);
      assert.equal(judge('The refund of 20 EUR is done.', rubric, scale, way).score, 5);
      assert.equal(judge('No.', rubric, scale, way).score, 1);
      assert.equal(judge('The refund of 20 EUR is done.', rubric, choices, way).score, 1);
      assert.equal(judge('Maybe 20 USD.', rubric, choices, way).score, 0.5);
      assert.equal(judge('No.', rubric, choices, way).score, 0);
    });
  }

  it('takes points off for rude words of the target, not of the driver', () => {
    assert.equal(judge('Of course.', 'The desk is polite.', scale).score, 5);
    const rude = judge('Calm down.', 'The desk is polite.', scale);
    assert.equal(rude.score, 3);
    assert.match(rude.reason, /Rude: calm down/);
  });

  it('names the expected words that were not said', () => {
    assert.match(
      judge('Yes.', 'It names the "kettle" (refund).', passFail).reason,
      /Not said: refund, kettle|Not said: kettle, refund/,
    );
  });

  it('judges the driver where the rubric is about the driver', () => {
    assert.equal(judge('Calm down.', 'This question is about the driver. (idiot)', scale).score, 3);
  });
});
