import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckSpec } from '../../domain/check.ts';
import type { SweepSpec } from '../../domain/sweep-spec.ts';
import { describeMistake, UsageError } from '../../domain/usage-error.ts';
import { readChecksFile } from '../../formats/checks-file.ts';
import { readSweepFile } from '../../formats/sweep-file.ts';
import { aContext, aSweep } from './a-context.ts';

function read(text: string, sections: Readonly<Record<string, string>> = {}) {
  const { spec, scenarios } = readSweepFile(aSweep(sections), aContext());
  const planned = scenarios.map(({ id, tags }) => ({ id, scenario: id, repeat: 1, seed: 1, tags }));
  return readChecksFile(
    { file: 'checks.yaml', format: 'yaml', text },
    { spec, scenarios, planned },
    aContext(),
  );
}

function mistakesOf(text: string, sections: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    read(text, sections);
  } catch (error) {
    if (error instanceof UsageError) return error.mistakes.map(describeMistake);
    throw error;
  }
  return [];
}

const checks = 'checks: { calm: { contains_any: [calm] } }';

function namesOf({ checks: all }: Pick<SweepSpec, 'checks'>): readonly string[] {
  return all.map(({ name }: CheckSpec) => name);
}

describe('a file of checks', () => {
  it('keeps of the sweep what it does not say', () => {
    const content = read('thresholds: [pass_rate(calm) >= 0.5]', { checks });
    assert.deepEqual(namesOf(content), ['calm']);
    assert.deepEqual(
      content.thresholds.map(({ text }) => text),
      ['pass_rate(calm) >= 0.5'],
    );
    assert.deepEqual(Object.keys(content.models), ['gpt']);
  });

  it('may name models of the sweep and bring its own, whose variables are told', () => {
    const content = read(
      [
        'models: { large: { model: gpt-4o, base_url: "http://localhost/v1", api_key: "${JUDGE_KEY}" } }',
        'checks:',
        '  kind: { judge: gpt, rubric: "Is it {mood}?" }',
        '  wise: { judge: large, rubric: "Is it wise?" }',
      ].join('\n'),
    );
    assert.deepEqual(Object.keys(content.models), ['gpt', 'large']);
    assert.deepEqual(content.env, ['JUDGE_KEY']);
  });

  it('may not change a model that conversations were played with', () => {
    const text = 'models: { gpt: { model: gpt-5, base_url: "http://localhost/v1" } }';
    assert.match(
      mistakesOf(text).join('\n'),
      /checks\.yaml:1:.*models\.gpt.*were played with the model "gpt".*another name/,
    );
  });

  it('must keep the check that conversations stop by as it is', () => {
    const sections = {
      checks: 'checks: { done: { contains_any: [done] } }',
      conversation: 'conversation: { stop: { check: done } }',
    };
    assert.match(mistakesOf(checks, sections).join('\n'), /stop by "done", which is not here/);
    const other = 'checks: { done: { contains_any: [over] } }';
    assert.match(mistakesOf(other, sections).join('\n'), /stop by "done", which asks something else here/);
    assert.deepEqual(mistakesOf(`${sections.checks}`, sections), []);
  });

  it("must not leave the sweep's thresholds without their checks", () => {
    const sections = { checks, thresholds: 'thresholds: [pass_rate(calm) >= 0.5]' };
    const text = 'checks: { kind: { contains_any: [kind] } }';
    assert.match(
      mistakesOf(text, sections).join('\n'),
      /"pass_rate\(calm\) >= 0\.5" is about the check "calm"/,
    );
  });

  it('is refused where a threshold can never open, at its place', () => {
    const text = `${checks}\nthresholds:\n  - pass^3 >= 0.5`;
    assert.match(
      mistakesOf(text).join('\n'),
      /checks\.yaml:3:5.*can never open: 3 repeats are needed, 1 planned/,
    );
  });

  it('tells every mistake, keys and templates among them, in order', () => {
    const text = [
      'check: {}',
      'checks:',
      '  kind: { judge: gtp, rubric: "Is it {moood}?" }',
      '  loud: { contains_any: [loud], for_tag: noisy }',
    ].join('\n');
    const mistakes = mistakesOf(text);
    assert.deepEqual(
      mistakes.map((mistake) => mistake.split(':').slice(0, 2).join(':')),
      ['checks.yaml:1', 'checks.yaml:3', 'checks.yaml:3', 'checks.yaml:4'],
    );
    assert.match(mistakes[0] ?? '', /unknown key "check".*checks/s);
  });

  it('is a map', () => {
    assert.match(
      mistakesOf('- polite').join('\n'),
      /must be a map with checks, thresholds, models, not a list/,
    );
  });
});
