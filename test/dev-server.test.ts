import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

async function answers(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  const socket = connect({ host, port: Number(port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('a test process that is told to end takes its Temporal servers with it', async () => {
  const script = fileURLToPath(new URL('./hold-dev-server.ts', import.meta.url));
  const holder = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(holder.stdout), 'line')) as [string];
  const addresses = JSON.parse(line) as readonly string[];
  assert.deepEqual(await Promise.all(addresses.map(answers)), [true, true]);
  const exit = once(holder, 'exit');
  holder.kill('SIGTERM');
  assert.deepEqual(await exit, [null, 'SIGTERM']);
  for (const address of addresses) while (await answers(address));
});
