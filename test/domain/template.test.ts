// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference to the environment looks like a placeholder
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../domain/json.ts';
import {
  pathsOf,
  renderJson,
  renderText,
  rootsOf,
  TemplateError,
  type Variables,
} from '../../domain/template.ts';

const variables: Variables = {
  name: 'Ada',
  input: { order: 4471, items: ['a', { sku: 'b-1' }], 'ship-to': 'Oslo', braces: '{name}', none: null },
  message_history: [{ content: 'first' }, { content: 'last' }],
  session_id: undefined,
  flag: false,
};

const texts: readonly (readonly [title: string, template: string, expected: string])[] = [
  ['a variable', 'Hello {name}!', 'Hello Ada!'],
  ['a dotted path', 'Order {input.order}', 'Order 4471'],
  ['an index', '{input.items.0}', 'a'],
  ['a negative index', '{message_history.-1.content}', 'last'],
  ['a key with a dash', '{input.ship-to}', 'Oslo'],
  ['an object becomes JSON', '{input.items.1}', '{"sku":"b-1"}'],
  ['null and false become JSON', '{input.none} {flag}', 'null false'],
  ['a value with braces is not read again', '{input.braces}', '{name}'],
  ['an escaped brace is literal', '\\{name} {name}', '{name} Ada'],
  ['a value that is not known yet is empty', '[{session_id}]', '[]'],
  ['a reference to the environment is left alone', '${NAME} ${name}', '${NAME} $Ada'],
  ['JSON text is left alone', '{"a": {name}, "b": {}}', '{"a": Ada, "b": {}}'],
  ['spaces and signs are no path', '{ name } {a b} {1} {name.}', '{ name } {a b} {1} {name.}'],
];

describe('a template in text', () => {
  for (const [title, template, expected] of texts) {
    it(title, () => assert.equal(renderText(template, variables), expected));
  }

  const failures: readonly (readonly [template: string, message: string])[] = [
    ['{nobody}', '{nobody}: there is no variable "nobody" here'],
    ['{input.mood}', '{input.mood}: "input" has no "mood"'],
    ['{input.items.7.sku}', '{input.items.7.sku}: "input.items" has no "7"'],
    ['{name.0}', '{name.0}: "name" has no "0"'],
    ['{input.toString}', '{input.toString}: "input" has no "toString"'],
    ['{constructor}', '{constructor}: there is no variable "constructor" here'],
  ];
  for (const [template, message] of failures) {
    it(`${template} is an error that names the path`, () =>
      assert.throws(
        () => renderText(template, variables),
        (error) => error instanceof TemplateError && error.message === message,
      ));
  }
});

describe('a template in a structure', () => {
  const structures: readonly (readonly [title: string, template: Json, expected: Json])[] = [
    ['a string that is one variable keeps its type', { order: '{input.order}' }, { order: 4471 }],
    ['any other string becomes text', { order: 'no. {input.order}' }, { order: 'no. 4471' }],
    ['a key without a value yet is left out', { a: 1, s: '{session_id}' }, { a: 1 }],
    ['an item without a value yet is left out', ['{session_id}', 'x'], ['x']],
    ['null is a value', { n: '{input.none}' }, { n: null }],
    ['keys are not templates', { '{name}': '{name}' }, { '{name}': 'Ada' }],
    [
      'nesting is followed',
      { a: [{ b: '{message_history}' }] },
      { a: [{ b: [{ content: 'first' }, { content: 'last' }] }] },
    ],
    ['numbers stay', { n: 1, t: true }, { n: 1, t: true }],
  ];
  for (const [title, template, expected] of structures) {
    it(title, () => assert.deepEqual(renderJson(template, variables), expected));
  }
});

describe('the paths of a template', () => {
  it('are listed once, without escaped ones', () =>
    assert.deepEqual(pathsOf({ a: '{input.order} \\{name}', b: ['{input.order}', '{turn}'] }), [
      { path: 'input.order', root: 'input', steps: ['order'] },
      { path: 'turn', root: 'turn', steps: [] },
    ]));

  it('have roots', () => assert.deepEqual(rootsOf('{input.a} {input.b} {turn}'), ['input', 'turn']));
});
