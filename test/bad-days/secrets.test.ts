import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { told } from './results.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

const modelKey = 'sk-live-Zq8RmT4vW1';
const targetToken = 'tok_9fKx2LpYb7Nc';

let practice: PracticeModel;
let gossip: Server;
let user: User;
let calls = 0;

/** A target that repeats what it was sent, in replies and in errors. */
before(async () => {
  practice = await startPracticeModel({ latencyMs: 20, apiKey: modelKey });
  gossip = createServer((request, response) => {
    calls += 1;
    const heard = `you sent ${request.headers.authorization} and ${request.url}`;
    request.resume();
    const status = [200, 500, 200, 401][calls % 4] ?? 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { text: `Gladly: ${heard}.` } : { error: heard }));
  });
  await new Promise<void>((resolve) => gossip.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(gossip.address() as AddressInfo).port}`;
  user = await aUser({
    PRACTICE_URL: practice.url,
    GOSSIP_URL: url,
    MODEL_KEY: modelKey,
    TOKEN: targetToken,
  });
});

after(async () => {
  await user?.leave();
  gossip?.close();
  gossip?.closeAllConnections();
  await practice?.close();
});

describe('the value of a secret', { timeout: 120_000 }, () => {
  it('lies in no file and in no output, also where replies and errors repeat it', async () => {
    const models = { practice: { model: 'plain', base_url: `\${PRACTICE_URL}`, api_key: `\${MODEL_KEY}` } };
    const send = {
      url: `\${GOSSIP_URL}/chat?token=\${TOKEN}`,
      headers: { authorization: `Bearer \${TOKEN}` },
      body: { message: '{latest_message}' },
      reply: 'response.text',
    };
    await user.write('sweep.json', sweepText(10, { models, target: { http: { send } } }));
    assert.equal((await user.regatta(['server', 'start'])).code, 0);
    const files = ['--junit', 'junit.xml', '--markdown', 'report.md', '--csv', 'runs.csv'];
    const run = await user.regatta(['run', 'sweep.json', '--id', 'gossip', '--json', ...files]);
    assert.ok((told(run.stdout).runs.broken ?? 0) > 0, run.stderr);
    assert.ok((told(run.stdout).retries.unavailable ?? 0) > 0, run.stdout);
    const shown = await user.regatta(['show', 'gossip/s0/1', '--json']);
    const wrong = await user.regatta(['run', 'sweep.json', '--id', 'wrong'], {
      env: { MODEL_KEY: `${modelKey}x` },
    });
    assert.equal(wrong.code, 6);
    const started = await user.regatta(['start', 'sweep.json', '--id', 'detached']);
    assert.equal(started.code, 0, started.stderr);
    await user.regatta(['watch', 'detached']);
    for (const { stdout, stderr } of [run, shown, wrong, started]) assertClean('output', stdout + stderr);
    const names = await readdir(user.folder, { recursive: true, withFileTypes: true });
    const paths = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name));
    assert.ok(paths.some((path) => path.endsWith('temporal.db')));
    for (const path of paths) assertClean(path, contentOf(path));
    const repeated = 'Gladly: you sent Bearer ${TOKEN} and /chat?token=${TOKEN}.';
    assert.ok(paths.some((path) => path.endsWith('.jsonl') && contentOf(path).includes(repeated)));
  });
});

/** Empty where the server has just taken a file of its own away. */
function contentOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

function assertClean(where: string, text: string): void {
  for (const secret of [modelKey, targetToken]) {
    const at = text.indexOf(secret);
    assert.equal(at, -1, `${where}: ${text.slice(Math.max(0, at - 100), at + 50)}`);
  }
}
