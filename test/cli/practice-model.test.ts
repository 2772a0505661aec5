import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import { aShell } from './test-shell.ts';

it('serves the practice model until a signal and then exits 0', async () => {
  const output = new EventEmitter();
  const printed = once(output, 'written');
  const args = ['practice-model', '--json', '--model', 'm'];
  const shell = aShell({ args, onOut: () => output.emit('written') });
  const ended = runCli(shell);
  await printed;
  const { url } = JSON.parse(shell.out()) as { url: string };
  const models = (await (await fetch(`${url}/models`)).json()) as { data: { id: string }[] };
  assert.deepEqual(
    models.data.map(({ id }) => id),
    ['m'],
  );
  shell.signal('SIGTERM');
  assert.equal(await ended, exitCodes.done);
});

it('names every wrong word and share at once', async () => {
  const args = ['practice-model', '--fault', 'rate492=0.1', '--fault', 'drop=2', '--refuse', 'all'];
  const shell = aShell({ args });
  assert.equal(await runCli(shell), exitCodes.usage);
  assert.match(
    shell.err(),
    /--refuse: unknown word all \(one of tools, .*\n--fault: unknown word rate492 .*\n--fault: a fault share/,
  );
});
