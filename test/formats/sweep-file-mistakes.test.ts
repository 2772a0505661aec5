// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference to the environment looks like a placeholder
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeMistake, UsageError } from '../../domain/usage-error.ts';
import { readSweepFile, type SweepSource } from '../../formats/sweep-file.ts';
import { aContext, aSweep } from './a-context.ts';

function mistakesOf(source: SweepSource, files: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    readSweepFile(source, aContext(files));
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.mistakes.map(describeMistake);
  }
}

type Bad = readonly [title: string, sections: Readonly<Record<string, string>>, mistakes: readonly string[]];

const bad: readonly Bad[] = [
  [
    'an unknown key',
    { more: 'repeat: 3' },
    ['sweep.yaml:5:1 repeat: unknown key "repeat" (did you mean "repeats"?)'],
  ],
  [
    'an unknown key deep inside',
    { driver: 'driver:\n  model: gpt\n  promt: x\n  prompt: y' },
    ['sweep.yaml:5:3 driver.promt: unknown key "promt" (did you mean "prompt"?)'],
  ],
  ['a wrong type', { more: 'repeats: many' }, ['sweep.yaml:5:10 repeats: must be a number, not "many"']],
  [
    'a part of a number',
    { more: 'repeats: 1.5' },
    ['sweep.yaml:5:10 repeats: must be a whole number, not 1.5'],
  ],
  [
    'a number out of range',
    { more: 'allow_missing: 2' },
    ['sweep.yaml:5:16 allow_missing: must be at most 1, not 2'],
  ],
  [
    'a number where text belongs',
    { more: 'checks:\n  x:\n    contains_any: [3]' },
    ['sweep.yaml:7:20 checks.x.contains_any.0: must be text, not 3 (for text put it in quotes: "3")'],
  ],
  [
    'a word that is none of those allowed',
    { more: 'conversation: { first: drivr }' },
    ['sweep.yaml:5:24 conversation.first: must be driver or target, not "drivr" (did you mean "driver"?)'],
  ],
  [
    'no scenarios',
    { scenarios: '' },
    ['sweep.yaml:1:1 scenarios: "scenarios" is missing (a list of rows and of `file: PATTERN`)'],
  ],
  [
    'an empty list of scenarios',
    { scenarios: 'scenarios: []', driver: '' },
    ['sweep.yaml:2:12 scenarios: there are no scenarios'],
  ],
  [
    'a row without input',
    { scenarios: 'scenarios: [{ id: a }]', driver: '' },
    ['sweep.yaml:2:13 scenarios.0.input: "input" is missing'],
  ],
  [
    'two ids that differ in letter case',
    { scenarios: 'scenarios:\n  - id: A\n    input: x\n  - id: a\n    input: y', driver: '' },
    [
      'sweep.yaml:5:9 scenarios.1.id: the id "a" is taken (the first stands at sweep.yaml:3:9 scenarios.0.id; letter case does not count)',
    ],
  ],
  [
    'two expectations',
    { scenarios: 'scenarios: [{ id: a, input: x, expected: y, result: z }]', driver: '' },
    ['sweep.yaml:2:13 scenarios.0: has expected and result: they are one thing'],
  ],
  [
    'a missing file',
    { scenarios: 'scenarios: [{ file: none.jsonl }]', driver: '' },
    ['sweep.yaml:2:21 scenarios.0.file: there is no file none.jsonl'],
  ],
  [
    'a pattern that no file matches',
    { scenarios: 'scenarios: [{ file: "*.csv" }]', driver: '' },
    ['sweep.yaml:2:21 scenarios.0.file: no file matches *.csv'],
  ],
  [
    'an empty scenario file',
    { scenarios: 'scenarios: [{ file: empty.jsonl }]', driver: '' },
    ['empty.jsonl: the file has no rows'],
  ],
  [
    'a misspelt variable',
    { driver: 'driver: { model: gpt, prompt: "{modd}" }' },
    [
      'sweep.yaml:3:31 driver.prompt: unknown variable {modd} (a literal brace is written \\{; did you mean "mood"?)',
    ],
  ],
  [
    'a variable of another place',
    { driver: 'driver: { model: gpt, prompt: "{reply}" }' },
    ['sweep.yaml:3:31 driver.prompt: {reply} does not exist in the driver (it exists in a check)'],
  ],
  [
    'a path that a row lacks',
    { driver: 'driver: { model: gpt, prompt: "{input.name} {expected}" }' },
    [
      'sweep.yaml:3:31 driver.prompt: scenario "a": {input.name}: "input" has no "name"',
      'sweep.yaml:3:31 driver.prompt: scenario "a": {expected}: the row has no "expected"',
    ],
  ],
  [
    'a template without quotes',
    { driver: 'driver:\n  model: gpt\n  prompt: {mood}' },
    ['sweep.yaml:5:11 driver.prompt: {mood} without quotes is a map (quote the template: "{mood}")'],
  ],
  [
    'an environment variable in a prompt',
    { driver: 'driver: { model: gpt, prompt: "${HOME}" }' },
    [
      'sweep.yaml:3:31 driver.prompt: ${HOME} cannot stand here: it would end up in transcripts and reports (environment variables belong to base_url, api_key and headers of models, and to HTTP targets)',
    ],
  ],
  [
    'a model that is not there',
    { driver: 'driver: { model: gtp, prompt: x }' },
    ['sweep.yaml:3:18 driver.model: there is no model "gtp" (did you mean "gpt"?)'],
  ],
  [
    'a driver without a prompt',
    { driver: 'driver: { model: gpt }' },
    ['sweep.yaml:3:9 driver: "prompt" is missing (a driver is a model with a prompt, or a script)'],
  ],
  [
    'a script that does not use its model',
    { driver: 'driver: { script: [Hi], model: gpt }' },
    [
      'sweep.yaml:3:32 driver.model: "model" is of no use here (the script has no `drive: N`, so no model speaks)',
    ],
  ],
  [
    'a target of no kind',
    { target: 'target: { retries: 1 }' },
    ['sweep.yaml:4:9 target: the target has no kind (exactly one of chat, http, module, queue, script)'],
  ],
  [
    'a target of two kinds',
    { target: 'target: { module: a.ts, script: { replies: [x] } }' },
    [
      'sweep.yaml:4:9 target: the target has 2 kinds: module, script (exactly one of chat, http, module, queue, script)',
    ],
  ],
  [
    'an address that is none',
    { target: 'target: { http: { send: { url: "localhost:80", reply: text } } }' },
    [
      'sweep.yaml:4:32 target.http.send.url: "localhost:80" is no address of a server (it begins with http:// or https://)',
    ],
  ],
  [
    'an HTTP target with no way to send',
    { target: 'target: { http: { retries: 2 } }' },
    ['sweep.yaml:4:17 target.http: "send" is missing (one of send, chat_events)'],
  ],
  [
    'an HTTP target with two ways to send',
    {
      target:
        'target: { http: { chat_events: "http://a.test/", send: { url: "http://a.test/", reply: text } } }',
    },
    ['sweep.yaml:4:17 target.http: "send" and "chat_events" cannot both be there (one of send, chat_events)'],
  ],
  [
    'headers that are no JSON text of a map',
    { target: `target: { http: { send: { url: "http://a.test/", reply: text, headers: '["x"]' } } }` },
    [
      'sweep.yaml:4:72 target.http.send.headers: is no JSON text of a map with texts (write a map, or {"x-key": "value"})',
    ],
  ],
  [
    'a limit of calls in two places',
    { target: 'target: { retries: 1, http: { retries: 2, send: { url: "http://a.test/", reply: text } } }' },
    ['sweep.yaml:4:40 target.http.retries: "retries" is there twice: under http and beside it'],
  ],
  [
    'a condition that selects without a path',
    {
      target:
        'target: { http: { send: { url: "http://a.test/", reply: text, streaming: { select: [{ value: x }] } } } }',
    },
    ['sweep.yaml:4:85 target.http.send.streaming.select.0.path: "path" is missing'],
  ],
  [
    'a stream condition with a key that is none',
    {
      target: 'target: { http: { send: { url: "http://a.test/", reply: text, streaming: { stopp: [] } } } }',
    },
    ['sweep.yaml:4:76 target.http.send.streaming.stopp: unknown key "stopp" (did you mean "stop"?)'],
  ],
  [
    'a batch size without batches',
    { target: 'target: { module: { file: missing.ts, batch_size: 2 } }' },
    [
      'sweep.yaml:4:27 target.module.file: there is no module missing.ts',
      'sweep.yaml:4:51 target.module.batch_size: only batches have a size (write `calls: batch`)',
    ],
  ],
  [
    'a module that is not there',
    { target: 'target: { module: missing.ts }' },
    ['sweep.yaml:4:19 target.module: there is no module missing.ts'],
  ],
  [
    'a check of no kind',
    { more: 'checks:\n  x: { not: true }' },
    [
      'sweep.yaml:6:6 checks.x: the check has no kind (one of contains_any, contains_all, matches_any, matches_all, equals, is_json, levenshtein, calls_include, calls_exclude, ordered, call_args, max_calls, turns, reply_seconds, input_tokens, output_tokens, cost_usd, tool_calls, judge, code)',
    ],
  ],
  [
    'a check of two kinds',
    { more: 'checks:\n  x: { equals: a, is_json: true }' },
    ['sweep.yaml:6:6 checks.x: the check has 2 kinds: equals, is_json (a check asks one thing: make it two)'],
  ],
  [
    'an option of another kind',
    { more: 'checks:\n  x: { equals: a, votes: 3 }' },
    ['sweep.yaml:6:26 checks.x.votes: "votes" is no option of equals (it belongs to judge)'],
  ],
  [
    'a pass mark off the scale',
    { more: 'checks:\n  x: { judge: gpt, rubric: a, scale: 1..5, at_least: 6 }' },
    ['sweep.yaml:6:54 checks.x.at_least: must be between 1 and 5, not 6'],
  ],
  [
    'a check named like a number',
    { more: 'checks:\n  turns: { is_json: true }' },
    [
      'sweep.yaml:6:3 checks.turns: "turns" is a number that every run has, and cannot name a check (choose another name)',
    ],
  ],
  [
    'a check for a tag that no scenario has',
    {
      scenarios: 'scenarios: [{ id: a, input: x, tags: [late] }]',
      driver: '',
      more: 'checks:\n  x: { is_json: true, for_tag: lte }',
    },
    ['sweep.yaml:6:32 checks.x.for_tag: no scenario has the tag "lte" (did you mean "late"?)'],
  ],
  [
    'a bad pattern',
    { more: 'checks:\n  x: { matches_any: ["("] }' },
    [
      'sweep.yaml:6:22 checks.x.matches_any.0: "(" is no regular expression: Invalid regular expression: /(/iu: Unterminated group',
    ],
  ],
  [
    'a stop check that is not there',
    { more: 'checks: { done: { is_json: true } }\nconversation: { stop: { check: dne } }' },
    ['sweep.yaml:6:32 conversation.stop.check: there is no check "dne" (did you mean "done"?)'],
  ],
  [
    'a bad threshold',
    { more: 'thresholds:\n  - pass_rat >= 0.9' },
    [
      'sweep.yaml:6:5 thresholds.0: threshold "pass_rat >= 0.9", column 1: "pass_rat" is not a metric (did you mean "pass_rate"?)',
    ],
  ],
  [
    'a bad duration',
    { more: 'timeouts: { call: 60x }' },
    [
      'sweep.yaml:5:19 timeouts.call: must be a duration such as 500ms, 60s, 15m, 24h, 7d (a plain number: seconds), not "60x"',
    ],
  ],
  [
    'a budget with a model that has no price',
    {
      models: 'models: { gpt: { model: mine, base_url: "http://localhost/v1" } }',
      more: 'budget_usd: 5',
    },
    [
      'sweep.yaml:5:13 budget_usd: a budget needs prices, and none is known for mine (add `price: { input: USD, output: USD }` (per million tokens) to models.gpt)',
    ],
  ],
  [
    'the first of all syntax errors',
    { more: 'repeats: [1\nseed: }' },
    [
      'sweep.yaml:6:1: not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
  ],
];

describe('a sweep file is refused, with the place, for', () => {
  for (const [title, sections, mistakes] of bad) {
    it(title, () => assert.deepEqual(mistakesOf(aSweep(sections), { 'empty.jsonl': '\n' }), mistakes));
  }
});

describe('the mistakes of a sweep file', () => {
  it('are all told at once, from top to bottom', () => {
    const sections = {
      models: 'modles: {}',
      driver: 'driver: { model: gpt, prompt: 3 }',
      more: 'repeats: 0',
    };
    assert.deepEqual(
      mistakesOf(aSweep(sections)).map((mistake) => mistake.split(' ')[0]),
      ['sweep.yaml:1:1', 'sweep.yaml:3:31', 'sweep.yaml:5:10'],
    );
  });

  it('of a JSON file have places, too', () =>
    assert.deepEqual(
      mistakesOf({ file: 's.json', format: 'json', text: '{\n  "seed": 1,\n  "tarte": 2\n}' }),
      [
        's.json:1:1 scenarios: "scenarios" is missing (a list of rows and of `file: PATTERN`)',
        's.json:1:1 target: "target" is missing (one of chat, http, module, queue, script)',
        's.json:3:3 tarte: unknown key "tarte" (did you mean "target"?)',
      ],
    ));

  it('of a JSON file that is none name the place', () =>
    assert.deepEqual(mistakesOf({ file: 's.json', format: 'json', text: '{\n  a: 1}' }), [
      "s.json:2:3: not JSON: Expected property name or '}' in JSON at position 4 (line 2 column 3)",
    ]));

  it('of a module name the path', () =>
    assert.deepEqual(mistakesOf({ file: 's.ts', value: { scenarios: () => [] } }), [
      's.ts scenarios: a function cannot stand in a sweep file',
    ]));

  it('stop at documents that grow without end', () => {
    const grow = Array.from(
      { length: 9 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`,
    );
    const text = ['a0: &a0 [x]', ...grow].join('\n');
    assert.deepEqual(mistakesOf({ file: 's.yaml', format: 'yaml', text }), [
      's.yaml: its aliases (`*name`) expand to too much',
    ]);
  });
});
