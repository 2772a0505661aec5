import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import {
  acquireServer,
  ensureServer,
  type HeldServer,
  type ServerInfo,
  serverStatus,
  startKeptServer,
  stopServer,
  watchServer,
} from '../../cli/temporal-server/index.ts';
import { startTimeOf } from '../../cli/temporal-server/processes.ts';
import { placeOf, type ServerState } from '../../cli/temporal-server/state.ts';
import { aShell } from './test-shell.ts';

const shell = aShell({ env: process.env });
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'regatta-server-'));
});
afterEach(async () => {
  const running = await status();
  if (running !== undefined) await kill(running.pid);
  await stopServer({ shell, folder });
  rmSync(folder, { recursive: true });
});

const acquire = () => acquireServer({ shell, folder });
const status = () => serverStatus({ shell, folder });
const readState = () => JSON.parse(readFileSync(placeOf(folder).state, 'utf8')) as ServerState;
const changeState = (change: Partial<ServerState>) =>
  writeFileSync(placeOf(folder).state, JSON.stringify({ ...readState(), ...change }));

type Holder = {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly server: ServerInfo;
};

async function holdInProcess(options: { readonly detached?: boolean } = {}): Promise<Holder> {
  const script = fileURLToPath(new URL('./hold-server.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder], {
    ...options,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { process: child, server: JSON.parse(line) as ServerInfo };
}

async function letGo(holder: Holder): Promise<void> {
  const exit = once(holder.process, 'exit');
  holder.process.stdin.end();
  await exit;
}

async function untilServed(): Promise<ServerInfo> {
  for (;;) {
    await nextTurn();
    const server = await status();
    if (server !== undefined) return server;
  }
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await untilGone(pid);
}

const lives = (pid: number) => startTimeOf(pid, shell.system) !== undefined;

async function untilGone(pid: number): Promise<void> {
  while (lives(pid)) await nextTurn();
}

describe('one server for a folder', () => {
  it('is shared by two processes that ask at once, and stops with the last', async () => {
    const [first, second] = await Promise.all([holdInProcess(), holdInProcess()]);
    assert.deepEqual(first.server, second.server);
    await letGo(first);
    assert.deepEqual((await status())?.pid, first.server.pid);
    await letGo(second);
    assert.equal(await status(), undefined);
    await untilGone(first.server.pid);
  });

  it('does not count a user that was killed', async () => {
    const killed = await holdInProcess();
    const server = await acquire();
    await kill(killed.process.pid ?? 0);
    await server.release();
    await untilGone(server.pid);
  });

  it('survives a Ctrl-C that reaches the process group of the run that began it', async () => {
    const holder = await holdInProcess({ detached: true });
    const exit = once(holder.process, 'exit');
    process.kill(-(holder.process.pid ?? 0), 'SIGINT');
    assert.deepEqual(await exit, [null, 'SIGINT']);
    assert.equal((await status())?.pid, holder.server.pid);
  });

  it('stays after its last run when it is kept', async () => {
    const server = await acquire();
    await startKeptServer({ shell, folder });
    await server.release();
    assert.equal((await status())?.pid, server.pid);
  });

  it('stops at a word though runs use it, and comes back for them at its address', async () => {
    const before = await acquire();
    assert.deepEqual(await stopServer({ shell, folder }), { ran: true, users: 1 });
    await ensureServer({ shell, folder });
    assert.equal(await status(), undefined);
    const after = await startKeptServer({ shell, folder });
    assert.equal(after.address, before.address);
  });

  it('is answered for by the server command', async () => {
    const run = async (...args: readonly string[]) => {
      const each = aShell({ args: ['server', ...args, '--json'], cwd: folder, env: process.env });
      return [await runCli(each), JSON.parse(each.out())];
    };
    const [, started] = await run('start');
    assert.deepEqual(await run('status'), [exitCodes.done, started]);
    assert.deepEqual(Object.keys(started), ['address', 'pid', 'database', 'version']);
    assert.deepEqual(await run('stop'), [exitCodes.done, { stopped: true, waiting_runs: 0 }]);
    assert.deepEqual(await run('stop'), [exitCodes.done, { stopped: false, waiting_runs: 0 }]);
  });
});

describe('a server that its last run has told to end', () => {
  // A server that is frozen cannot end before it is looked at.
  const acquireAndRelease = async () => {
    const server = await acquire();
    process.kill(server.pid, 'SIGSTOP');
    await server.release();
    assert.equal(lives(server.pid), true);
    return server;
  };

  it('is not waited for, and runs no more for anybody who asks', async () => {
    await acquireAndRelease();
    assert.equal(await status(), undefined);
  });

  it('is not used by the next run, which gets a fresh one on the same database and address', async () => {
    const before = await acquireAndRelease();
    const after = await acquire();
    assert.equal(lives(before.pid), false);
    assert.notEqual(after.pid, before.pid);
    assert.deepEqual([after.address, after.database], [before.address, before.database]);
  });

  it('is followed by one fresh server for two that ask at once', async () => {
    const before = await acquireAndRelease();
    const [first, second] = await Promise.all([holdInProcess(), holdInProcess()]);
    assert.deepEqual(first.server, second.server);
    assert.notEqual(first.server.pid, before.pid);
    assert.equal((await status())?.pid, first.server.pid);
    await Promise.all([letGo(first), letGo(second)]);
  });

  it('is gone when a stop returns', async () => {
    const { pid } = await acquireAndRelease();
    assert.deepEqual(await stopServer({ shell, folder }), { ran: false, users: 0 });
    assert.equal(lives(pid), false);
  });
});

describe('a server that died', () => {
  it('comes back on its database and port', async () => {
    const before = await acquire();
    await kill(before.pid);
    await ensureServer({ shell, folder });
    const after = await status();
    assert.notEqual(after?.pid, before.pid);
    assert.deepEqual([after?.address, after?.database], [before.address, before.database]);
  });

  it('is brought back by the run that watches it', async () => {
    const before = await acquire();
    const stopWatching = watchServer({ shell, folder });
    await kill(before.pid);
    const after = await untilServed();
    stopWatching();
    assert.equal(after.address, before.address);
  });

  it('is brought back by the run that watches it though its state is lost', async () => {
    const before = await acquire();
    const stopWatching = watchServer({ shell, folder });
    rmSync(placeOf(folder).state);
    const after = await untilServed();
    stopWatching();
    assert.equal(after.address, before.address);
  });

  it('comes back on another port when its own was taken', async () => {
    const before = await acquire();
    await kill(before.pid);
    const squatter = createServer().listen(readState().port, '127.0.0.1');
    await once(squatter, 'listening');
    const after = await acquire();
    squatter.close();
    assert.notEqual(after.address, before.address);
    assert.equal((await status())?.address, after.address);
  });
});

describe('what a crash leaves behind', () => {
  const mends = async (spoil: (running: HeldServer) => Promise<void> | void) => {
    const before = await acquire();
    await spoil(before);
    const after = await acquire();
    assert.deepEqual(await status(), pick(after));
    return { before, after };
  };
  const pick = ({ address, pid, database, version }: ServerInfo) => ({ address, pid, database, version });

  it('a state whose pid belongs to another program by now', async () => {
    await mends(async ({ pid }) => {
      await kill(pid);
      changeState({ pid: process.pid });
    });
    assert.notEqual(readState().pid, process.pid);
  });

  it('a state that cannot be read, of a server that lives: never two on one database', async () => {
    const { before, after } = await mends(() => writeFileSync(placeOf(folder).state, '{ "pid": '));
    assert.notEqual(after.pid, before.pid);
    assert.equal(startTimeOf(before.pid, shell.system), undefined);
  });

  it('a server that no state tells of, because who began or ended it was killed half-way', async () => {
    const { before, after } = await mends(() => rmSync(placeOf(folder).state));
    assert.equal(startTimeOf(before.pid, shell.system), undefined);
    assert.equal(after.address, before.address);
  });

  it('a server lock with the pid of another program, which is left alone', async () => {
    const bystander = spawn('sleep', ['60']);
    await mends(async ({ pid }) => {
      await kill(pid);
      rmSync(placeOf(folder).state);
      writeFileSync(placeOf(folder).serverLock, `${bystander.pid}\n`);
    });
    assert.notEqual(startTimeOf(bystander.pid ?? 0, shell.system), undefined);
    bystander.kill();
  });

  it('a server lock and a state full of rubbish', async () => {
    await mends(async ({ pid }) => {
      await kill(pid);
      writeFileSync(placeOf(folder).state, '[1, 2]');
      writeFileSync(placeOf(folder).serverLock, 'rubbish');
    });
  });
});
