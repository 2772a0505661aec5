// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference to the environment looks like a placeholder
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { envNames } from '../../formats/env-references.ts';

it('names of the environment are found in every string, once', () =>
  assert.deepEqual(envNames({ a: 'Bearer ${KEY}', b: ['${KEY}', '${OTHER_1}'], c: 1 }), ['KEY', 'OTHER_1']));

it('a dollar sign before a template variable is no reference', () =>
  assert.deepEqual(envNames('${price} $KEY {KEY}'), []));
