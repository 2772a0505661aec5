import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { namedTemporal } from '../../cli/connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-connection-'));
after(() => rmSync(folder, { recursive: true }));

const file = join(folder, 'temporal.toml');
writeFileSync(
  file,
  '[profile.default]\naddress = "default:7233"\n\n[profile.team]\naddress = "team:7233"\nnamespace = "evals"\n',
);
const env = { TEMPORAL_CONFIG_FILE: file };

const addressOf = async (...args: Parameters<typeof namedTemporal>) => {
  const named = await namedTemporal(...args);
  return named && [named.connectionOptions.address, named.namespace];
};

it('means the embedded server when no Temporal is named, also with a default profile in the file', async () => {
  assert.equal(await namedTemporal({}, env), undefined);
});

it('takes address and namespace from TEMPORAL_ variables or a named profile', async () => {
  const variables = { TEMPORAL_ADDRESS: 'a:1', TEMPORAL_NAMESPACE: 'n' };
  assert.deepEqual(await addressOf({}, variables), ['a:1', 'n']);
  assert.deepEqual(await addressOf({ profile: 'team' }, env), ['team:7233', 'evals']);
  assert.deepEqual(await addressOf({}, { ...env, TEMPORAL_PROFILE: 'team' }), ['team:7233', 'evals']);
});

it('lets a flag beat a variable', async () => {
  const variables = { TEMPORAL_ADDRESS: 'a:1', TEMPORAL_NAMESPACE: 'n' };
  assert.deepEqual(await addressOf({ address: 'b:2', namespace: 'm' }, variables), ['b:2', 'm']);
  assert.deepEqual(await addressOf({ address: 'b:2' }, {}), ['b:2', 'default']);
});
