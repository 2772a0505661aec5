import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { UsageError } from '../../domain/usage-error.ts';
import { readWorkerSettings, type WorkerFlags, workerDefaults } from '../../workers/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-config-'));
after(() => rmSync(folder, { recursive: true }));

function read(flags: Partial<WorkerFlags> = {}) {
  return readWorkerSettings({ ...workerDefaults, queue: 'regatta.shop', ...flags }, folder);
}

function mistakesOf(flags: Partial<WorkerFlags>): readonly string[] {
  try {
    read(flags);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error.message.split('\n');
  }
  return [];
}

describe("a worker's settings", () => {
  it('have the documented defaults', () => {
    assert.deepEqual(read(), {
      project: folder,
      queue: 'regatta.shop',
      role: 'all',
      stores: [],
      allowEnv: ['REGATTA_SECRET_*'],
      allowHost: [],
      slots: 256,
      graceMs: 135_000,
      metrics: { host: '127.0.0.1', port: 9464 },
      logLevel: 'info',
    });
  });

  it('take names and hosts one by one and separated by commas', () => {
    const { allowEnv, allowHost } = read({
      allowEnv: ['OPENAI_API_KEY, SHOP_*', 'X'],
      allowHost: ['localhost:8000,*.example.com'],
    });
    assert.deepEqual(allowEnv, ['OPENAI_API_KEY', 'SHOP_*', 'X']);
    assert.deepEqual(allowHost, ['localhost:8000', '*.example.com']);
  });

  for (const [written, share] of [
    ['1/4', 0.25],
    ['0.25', 0.25],
    ['.5', 0.5],
    ['1', 1],
  ] as const) {
    it(`read a pace share of ${written}`, () => {
      assert.equal(read({ paceShare: written }).paceShare, share);
    });
  }

  for (const written of ['0', '0/4', '5/4', '1/0', '1.5', '-1', 'half', '']) {
    it(`refuse a pace share of "${written}"`, () => {
      assert.deepEqual(mistakesOf({ paceShare: written }), [
        `--pace-share: ${written} is no share (above 0 to 1, for instance 0.25 or 1/4)`,
      ]);
    });
  }

  it('read the grace as a duration, plain numbers as seconds', () => {
    assert.equal(read({ grace: '5m' }).graceMs, 300_000);
    assert.equal(read({ grace: '90' }).graceMs, 90_000);
  });

  it('serve no metrics when the port is off, and on a free port when it is 0', () => {
    assert.equal(read({ metricsPort: 'off' }).metrics, undefined);
    assert.deepEqual(read({ metricsPort: '0', metricsHost: '0.0.0.0' }).metrics, {
      host: '0.0.0.0',
      port: 0,
    });
  });

  it('name all mistakes at once, each with a way out', () => {
    const mistakes = mistakesOf({
      project: 'nowhere',
      queue: ' ',
      role: 'activites',
      allowEnv: ['api-key'],
      slots: '0',
      paceShare: '2',
      grace: 'soon',
      metricsPort: '70000',
      logLevel: 'loud',
    });
    assert.deepEqual(mistakes.toSorted(), [
      "--allow-env: api-key is no variable's name (capital letters, digits, _ and * for any part)",
      '--grace: soon is no duration (for instance 135s or 5m)',
      '--log-level: unknown word loud (allowed: trace, debug, info, warn, error)',
      '--metrics-port: 70000 does not do (a whole number from 0 to 65535, or off)',
      '--pace-share: 2 is no share (above 0 to 1, for instance 0.25 or 1/4)',
      `--project: there is no folder ${join(folder, 'nowhere')}`,
      '--queue is empty (leave it out for the queue of the project)',
      '--role: unknown word activites (did you mean "activities"?)',
      '--slots: 0 does not do (a whole number from 1 to 10000)',
    ]);
  });
});
