import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { encodeEvents } from '../../formats/journal-lines.ts';
import { aMessage, aResult, aRun, aShard, aSweep, sweep, textsOf } from './store-builders.ts';
import { storeContract } from './store-contract.ts';

const execute = promisify(execFile);
const run = aRun().id;
const isRoot = process.getuid?.() === 0;

storeContract('file store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-store-'));
  return {
    store: createFileStore(folder),
    elsewhere: {
      module: import.meta.resolve('../../adapters/file-store/index.ts'),
      name: 'createFileStore',
      argument: folder,
    },
    dispose: () => rm(folder, { recursive: true }),
  };
});

async function aFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-store-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** A file system of its own, or undefined where this user may not mount one. */
async function aDisk(context: TestContext, options: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-store-'));
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  } catch {
    await rm(folder, { recursive: true });
    context.skip('needs the right to mount a tmpfs');
    return undefined;
  }
  context.after(async () => {
    // Lazily: a test that failed may have left a journal open.
    await execute('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}

test('the files lie where the layout says', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  await store.createSweep(aSweep(), [aShard(3)]);
  await (await store.openJournal(`${sweep}/angry@small/2`, '17-1-a')).close();
  await store.putResult(aResult({ run: `${sweep}/angry@small/2`, generation: 4 }));
  await store.putShardResults(sweep, 3, []);
  await store.putReport(sweep, {});
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  assert.deepEqual(
    files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .sort(),
    [
      'report.json',
      'results/0003.jsonl',
      'runs/angry@small/2/17-1-a.jsonl',
      'runs/angry@small/2/result.4.json',
      'shards/0003.json',
      'sweep.json',
    ].map((file) => join(folder, sweep, file)),
  );
});

test('a line that a dead writer left torn is ignored and swallows nothing', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  const dead = await store.openJournal(run, '1-1-a');
  await dead.append([aMessage('whole')]);
  await dead.close();
  await appendFile(partOf(folder, '1-1-a'), encodeEvents([aMessage('torn \u{1f600}')]).slice(0, -12));
  const next = await store.openJournal(run, '2-1-b');
  await next.append([aMessage('goes on')]);
  await next.close();
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['whole', 'goes on']);
});

test('a line that was torn when it was taken over stays ignored when its writer completes it', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  const slow = await store.openJournal(run, '1-1-a');
  const line = encodeEvents([aMessage('slow')]);
  await appendFile(partOf(folder, '1-1-a'), line.slice(0, 20));
  const next = await store.openJournal(run, '2-1-b');
  await appendFile(partOf(folder, '1-1-a'), line.slice(20));
  await Promise.all([slow.close(), next.close()]);
  const folded = await store.readJournal(run);
  assert.deepEqual([textsOf(folded.events), textsOf(folded.ignored)], [[], ['slow']]);
});

test('a part that a lower writer created in the same moment is ignored', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  const journal = await store.openJournal(run, '2-1-b');
  const lower = [{ kind: 'resumed', at: 1, accepts: {} } as const, aMessage('lower')];
  await writeFile(partOf(folder, '1-1-a'), encodeEvents(lower));
  await journal.append([aMessage('goes on')]);
  await journal.close();
  const folded = await store.readJournal(run);
  assert.deepEqual([textsOf(folded.events), textsOf(folded.ignored)], [['goes on'], ['lower']]);
});

test('a part whose writer died before it said what it builds on is no part', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  await (await store.openJournal(run, '1-1-a')).close();
  await writeFile(partOf(folder, '2-1-b'), '{"kind":"resu');
  const next = await store.openJournal(run, '3-1-c');
  await next.close();
  assert.deepEqual(next.folded.accepts, { '1-1-a': 1 });
});

test('files that are no parts and no results are left alone', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  await (await store.openJournal(run, '1-1-a')).close();
  await writeFile(partOf(folder, 'notes'), 'not a part\n');
  await writeFile(join(folder, run.replace('angry', 'runs/angry'), 'result.1.json.tmp'), '{"schema":1,');
  assert.equal((await store.readJournal(run)).writers, 1);
  assert.equal(await store.readResult(run), undefined);
});

test('a full disk loses nothing that was confirmed, and the same writer goes on when there is room', async (context) => {
  const folder = await aDisk(context, 'size=256k');
  if (folder === undefined) return;
  const store = createFileStore(folder);
  const journal = await store.openJournal(run, '1-1-a');
  await writeFile(join(folder, 'filler'), Buffer.alloc(100 * 1024));
  const confirmed: string[] = [];
  const fill = async (): Promise<never> => {
    for (let count = 0; ; count++) {
      const text = `${count} ${'x'.repeat(5000)}`;
      await journal.append([aMessage(text)]);
      confirmed.push(text);
    }
  };
  await assert.rejects(fill(), {
    code: 'store_unavailable',
    blame: 'infrastructure',
    message: new RegExp(`${partOf(folder, '1-1-a')}.*ENOSPC`),
  });
  assert.ok(confirmed.length > 0);
  assert.deepEqual(textsOf((await store.readJournal(run)).events), confirmed);
  await rm(join(folder, 'filler'));
  await journal.append([aMessage('room again')]);
  await journal.close();
  assert.deepEqual(textsOf((await store.readJournal(run)).events), [...confirmed, 'room again']);
});

test('after an append that left whole lines on a full disk only another writer goes on', async (context) => {
  const folder = await aDisk(context, 'size=64k');
  if (folder === undefined) return;
  const store = createFileStore(folder);
  const journal = await store.openJournal(run, '1-1-a');
  const many = Array.from({ length: 30 }, (_, index) => aMessage(`${index} ${'x'.repeat(3000)}`));
  await assert.rejects(journal.append(many), { code: 'store_unavailable' });
  const before = await readFile(partOf(folder, '1-1-a'), 'utf8');
  await assert.rejects(journal.append([aMessage('same writer')]), { message: /only another writer/ });
  await journal.close();
  assert.equal(await readFile(partOf(folder, '1-1-a'), 'utf8'), before);
  assert.ok(before.endsWith('}\n') && before.split('\n').length > 2);
});

test('a full disk leaves neither half a result nor half a sweep', async (context) => {
  const folder = await aDisk(context, 'size=64k');
  if (folder === undefined) return;
  const store = createFileStore(folder);
  const long = 'x'.repeat(100_000);
  await assert.rejects(store.putResult(aResult({ sessionNote: long })), { code: 'store_unavailable' });
  await assert.rejects(store.createSweep(aSweep(), [aShard(0, [aRun(long)])]), { code: 'store_unavailable' });
  assert.equal(await store.readResult(run), undefined);
  assert.deepEqual(await store.listSweeps(), []);
  assert.equal(await store.putResult(aResult()), true);
});

test('a disk that is mounted read-only is named in the fault', async (context) => {
  const folder = await aDisk(context, 'ro,size=64k');
  if (folder === undefined) return;
  const named = {
    code: 'store_unavailable',
    blame: 'infrastructure',
    message: new RegExp(`${folder}.*EROFS`),
  };
  const store = createFileStore(folder);
  await assert.rejects(store.probe(), named);
  await assert.rejects(store.openJournal(run, '1-1-a'), named);
});

test('a folder without the right to write is named in the fault', async (context) => {
  if (isRoot) return context.skip('root may write everywhere');
  const folder = await aFolder(context);
  await chmod(folder, 0o500);
  await assert.rejects(createFileStore(folder).probe(), { message: new RegExp(`${folder}.*EACCES`) });
});

test('a store below a file is named by every method', async (context) => {
  const folder = join(await aFolder(context), 'file');
  await writeFile(folder, '');
  const store = createFileStore(folder);
  const works = [
    () => store.probe(),
    () => store.createSweep(aSweep(), []),
    () => store.readSweep(sweep),
    () => store.listSweeps(),
    () => store.readShard(sweep, 0),
    () => store.openJournal(run, '1-1-a'),
    () => store.readJournal(run),
    () => store.putResult(aResult()),
    () => store.readResult(run),
    () => store.putShardResults(sweep, 0, []),
    () => store.readShardResults(sweep, aShard()),
    () => store.putReport(sweep, {}),
    () => store.readReport(sweep),
    () => store.removeLeftovers(0),
  ];
  for (const work of works) {
    await assert.rejects(work(), { code: 'store_unavailable', message: new RegExp(folder) }, `${work}`);
  }
});

test('a sweep folder that is in use by something else is not taken for a sweep', async (context) => {
  const folder = await aFolder(context);
  await mkdir(join(folder, sweep));
  await writeFile(join(folder, sweep, 'notes.txt'), '');
  await assert.rejects(createFileStore(folder).createSweep(aSweep(), []), { message: /not by a sweep/ });
});

test('what crashes left is removed once it is old, and nothing else is', async (context) => {
  const folder = await aFolder(context);
  const store = createFileStore(folder);
  await store.createSweep(aSweep(), [aShard()]);
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const old = [`.${id}.tmp/sweep.json`, `.probe-${id}`, `${sweep}/report.json.${id}.tmp`];
  const kept = ['.probe-of-mine', `${sweep}/notes.tmp`];
  for (const name of [...old, ...kept]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), 'seven b');
  }
  assert.equal(await store.removeLeftovers(Date.now() - 86_400_000), 0);
  assert.equal(await store.removeLeftovers(Date.now() + 1_000), 21);
  assert.deepEqual((await readdir(folder)).sort(), ['.probe-of-mine', sweep]);
  assert.deepEqual((await readdir(join(folder, sweep))).sort(), ['notes.tmp', 'shards', 'sweep.json']);
});

test('a probe leaves nothing behind', async (context) => {
  const folder = join(await aFolder(context), 'new');
  await createFileStore(folder).probe();
  assert.ok((await stat(folder)).isDirectory());
  assert.deepEqual(await readdir(folder), []);
});

function partOf(folder: string, writer: string): string {
  return join(folder, sweep, 'runs', 'angry', '1', `${writer}.jsonl`);
}
