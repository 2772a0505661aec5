import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecrets } from '../../adapters/secrets.ts';
import { Fault } from '../../domain/fault.ts';

const env = {
  REGATTA_SECRET_KEY: 'sk a"b/c',
  REGATTA_SECRET_LONG: 'sk a"b/c-longer',
  OTHER_KEY: 'other',
  REGATTA_SECRET_NONE: '',
};
const secrets = createSecrets({ env, allowed: ['REGATTA_SECRET_*'] });

test('a secret that came at run time is hidden from then on, in every form', () => {
  const secrets = createSecrets({ env: {}, allowed: [] });
  assert.equal(secrets.redact('tok/en-123'), 'tok/en-123');
  secrets.learn('tok/en-123', '{access_token}');
  assert.equal(secrets.redact('<tok/en-123> tok%2Fen-123'), '<{access_token}> {access_token}');
  assert.equal(secrets.hide('your token is tok/en-123'), 'your token is {access_token}');
});

test('an allowed name is resolved anywhere in a text', () => {
  assert.equal(secrets.resolve('Bearer ${REGATTA_SECRET_KEY}!'), 'Bearer sk a"b/c!');
});

test('a value is put in as it is: it is not read for further references', () => {
  const nested = createSecrets({ env: { A: '${B} $& $1', B: 'inner' }, allowed: ['*'] });
  assert.equal(nested.resolve('${A}'), '${B} $& $1');
});

test('a name that is not allowed is denied, and the message says how to allow it', () => {
  assert.throws(
    () => secrets.resolve('${OTHER_KEY}'),
    (error) =>
      error instanceof Fault &&
      error.code === 'denied' &&
      error.blame === 'configuration' &&
      error.message.includes('--allow-env OTHER_KEY') &&
      !error.message.includes('other'),
  );
});

test('a name that is not set, or empty, is not found', () => {
  for (const name of ['REGATTA_SECRET_GONE', 'REGATTA_SECRET_NONE']) {
    assert.throws(
      () => secrets.resolve(`\${${name}}`),
      (error) => error instanceof Fault && error.code === 'not_found' && error.message.includes(name),
    );
  }
});

test('values are hidden as they are, percent-encoded and escaped as JSON', () => {
  const forms = ['sk a"b/c', encodeURIComponent('sk a"b/c'), JSON.stringify('sk a"b/c').slice(1, -1)];
  for (const form of forms) assert.equal(secrets.redact(`<${form}>`), '<${REGATTA_SECRET_KEY}>');
});

test('of two values the longer is hidden first', () => {
  assert.equal(secrets.redact('sk a"b/c-longer'), '${REGATTA_SECRET_LONG}');
});

test('in a conversation only what must be a secret is hidden: no short value, no plain address', () => {
  const values = {
    KEY: 'sk-12345',
    REGION: 'eu-west',
    URL: 'https://desk.internal/chat',
    WITH_PASSWORD: 'https://me:pw@desk.internal',
    WITH_TOKEN: 'https://desk.internal?token=1',
  };
  const { hide } = createSecrets({ env: values, allowed: ['*'] });
  const shown = { ...values, KEY: '${KEY}', WITH_PASSWORD: '${WITH_PASSWORD}', WITH_TOKEN: '${WITH_TOKEN}' };
  for (const [name, value] of Object.entries(values))
    assert.equal(hide(value), shown[name as keyof typeof shown]);
});

test('a dot in a pattern is a dot', () => {
  assert.throws(() => createSecrets({ env: { AXB: 'value' }, allowed: ['A.B'] }).resolve('${AXB}'), Fault);
});

test('a proof lists every name that is missing', () => {
  secrets.prove(['REGATTA_SECRET_KEY']);
  assert.throws(
    () => secrets.prove(['REGATTA_SECRET_KEY', 'REGATTA_SECRET_GONE', 'OTHER_KEY']),
    (error) =>
      error instanceof Fault &&
      error.message.includes('REGATTA_SECRET_GONE') &&
      error.message.includes('OTHER_KEY'),
  );
});
