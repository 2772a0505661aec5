import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scenario } from '../../domain/scenario.ts';
import { scenarioVariables, templateMistakes, templateVariables } from '../../domain/template-variables.ts';

const scenario: Scenario = {
  id: 'refund',
  input: { order: 7, repeat: 'hidden' },
  expected: 'a refund',
  tags: [],
  meta: { owner: 'desk' },
};

describe('the variables of a scenario', () => {
  it('are the input, its keys, the expectation under three names, the meta data and the run', () =>
    assert.deepEqual(scenarioVariables(scenario, { repeat: 2, seed: 9 }), {
      order: 7,
      input: scenario.input,
      scenario_input: scenario.input,
      expected: 'a refund',
      result: 'a refund',
      scenario_result: 'a refund',
      meta: { owner: 'desk' },
      repeat: 2,
      seed: 9,
    }));

  it('lack the expectation where the row has none', () => {
    const { expected: _, ...bare } = scenario;
    assert.equal(Object.hasOwn(scenarioVariables(bare, { repeat: 1, seed: 1 }), 'expected'), false);
  });
});

describe('the table of variables', () => {
  it('is what is published', () =>
    assert.deepEqual(templateVariables, {
      driver: ['input', 'scenario_input', 'expected', 'result', 'scenario_result', 'meta', 'repeat', 'seed'],
      chat_target: [...templateVariables.driver, 'message_history', 'latest_message'],
      http_target: [...templateVariables.chat_target, 'session_id', 'run_id', 'turn', 'access_token'],
      check: [
        ...templateVariables.chat_target,
        'session_id',
        'run_id',
        'turn',
        'reply',
        'transcript',
        'tool_calls',
        'tools',
        'model_input',
        'metadata',
      ],
    }));

  it('lets a misspelt variable come with the closest name', () =>
    assert.deepEqual(templateMistakes('Say {lastest_message}', 'http_target', []), [
      {
        message: 'unknown variable {lastest_message}',
        hint: 'a literal brace is written \\{; did you mean "latest_message"?',
      },
    ]));

  it('says where a variable of another place exists', () =>
    assert.deepEqual(templateMistakes('{reply}', 'driver', []), [
      { message: '{reply} does not exist in the driver', hint: 'it exists in a check' },
    ]));

  it('knows the keys of the inputs', () => {
    assert.deepEqual(templateMistakes('{mood}', 'driver', ['mood']), []);
    assert.equal(
      templateMistakes('{modd}', 'driver', ['mood'])[0]?.hint,
      'a literal brace is written \\{; did you mean "mood"?',
    );
  });
});
