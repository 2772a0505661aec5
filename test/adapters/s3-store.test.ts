import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Store } from '../../activities/ports.ts';
import { createS3Store } from '../../adapters/s3-store/index.ts';
import { createStore, resolveStore } from '../../adapters/store.ts';
import {
  type Asked,
  type FakeBucket,
  type Fate,
  type Habits,
  openFakeStore,
  startFakeS3,
} from './s3-fake.ts';
import { pointTo } from './s3-server.ts';
import { aMessage, aResult, aRun, aShard, aSweep, sweep, textsOf } from './store-builders.ts';
import { storeContract } from './store-contract.ts';

const fake = await startFakeS3();
after(() => fake.close());

const run = aRun().id;
const runFolder = `some/where/${sweep}/runs/angry/1`;
const placeOf = (bucket: FakeBucket) => ({ url: fake.url, address: `s3://${bucket.name}/some/where` });
const troubles: readonly Fate[] = ['error', 'slow_down', 'drop', 'lose'];

storeContract('S3 store where every fifth request goes wrong', async () => {
  const place = placeOf(
    fake.bucket({ fateOf: (_, count) => troubles[count % 5 === 0 ? (count / 5) % 4 : -1] ?? 'fine' }),
  );
  return {
    store: openFakeStore(place),
    elsewhere: { module: import.meta.resolve('./s3-fake.ts'), name: 'openFakeStore', argument: place },
    dispose: async () => {},
  };
});

/** A bucket, and a store in it that has tried it out already. */
async function aStore(habits: Habits = {}): Promise<{ bucket: FakeBucket; store: Store }> {
  const bucket = fake.bucket();
  const store = openFakeStore(placeOf(bucket));
  await store.probe();
  bucket.asked.length = 0;
  bucket.habits = habits;
  return { bucket, store };
}

/** The first request that fits has this fate. */
function first(fits: (asked: Asked) => boolean, fate: Fate): Habits {
  let isOver = false;
  return {
    fateOf(asked) {
      if (isOver || !fits(asked)) return 'fine';
      isOver = true;
      return fate;
    },
  };
}

test('the objects lie where the layout says', async () => {
  const { bucket, store } = await aStore();
  await store.createSweep(aSweep(), [aShard(3)]);
  const journal = await store.openJournal(run, '17-1-a');
  await journal.append([aMessage('one')]);
  await store.putResult(aResult({ generation: 4 }));
  await store.putShardResults(sweep, 3, []);
  await store.putReport(sweep, {});
  assert.deepEqual(
    [...bucket.objects.keys()].sort(),
    [
      'report.json',
      'results/0003.jsonl',
      'runs/angry/1/17-1-a/000000.jsonl',
      'runs/angry/1/17-1-a/000001.jsonl',
      'runs/angry/1/result.4.json',
      'shards/hash/0003.json',
      'sweep.json',
    ].map((key) => `some/where/${sweep}/${key}`),
  );
  await journal.close();
});

test('a store may lie at the top of a bucket', async () => {
  const bucket = fake.bucket();
  const store = openFakeStore({ url: fake.url, address: `s3://${bucket.name}/` });
  await store.createSweep(aSweep(), []);
  assert.deepEqual(await store.listSweeps(), [sweep]);
  assert.deepEqual([...bucket.objects.keys()], [`${sweep}/sweep.json`]);
  assert.equal(store.address, `s3://${bucket.name}`);
});

test('a writer that leaves joins its pieces into the one object that a folder would hold', async () => {
  const { bucket, store } = await aStore();
  const journal = await store.openJournal(run, '1-1-a');
  await journal.append([aMessage('one'), aMessage('two')]);
  await journal.append([aMessage('three')]);
  const pieces = [...bucket.objects.values()].map(({ body }) => body.toString());
  await journal.close();
  assert.deepEqual([...bucket.objects.keys()], [`${runFolder}/1-1-a.jsonl`]);
  assert.equal(bucket.objects.get(`${runFolder}/1-1-a.jsonl`)?.body.toString(), pieces.join(''));
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one', 'two', 'three']);
  await assert.rejects(store.openJournal(run, '1-1-a'), { message: /there is such a part already/ });
});

test('pieces are removed one by one where a server cannot remove many at once', async () => {
  const { bucket, store } = await aStore({ deletesMany: false });
  const journal = await store.openJournal(run, '1-1-a');
  await journal.append([aMessage('one')]);
  await journal.close();
  assert.deepEqual([...bucket.objects.keys()], [`${runFolder}/1-1-a.jsonl`]);
});

test('a writer that dies between joining its pieces and removing them has written nothing twice', async () => {
  const { bucket, store } = await aStore({ fateOf: ({ what }) => (what === 'DELETE' ? 'deny' : 'fine') });
  const journal = await store.openJournal(run, '1-1-a');
  await journal.append([aMessage('one')]);
  await journal.close();
  assert.equal(bucket.objects.size, 3);
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one']);
});

test('a journal whose pieces are joined while it is read is read whole', async () => {
  const { bucket, store } = await aStore();
  const journal = await store.openJournal(run, '1-1-a');
  await journal.append([aMessage('one')]);
  bucket.habits = {
    async fateOf({ what, key }): Promise<Fate> {
      if (what === 'GET' && key.endsWith('/000000.jsonl')) await journal.close();
      return 'fine';
    },
  };
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one']);
  assert.equal(bucket.asked.filter(({ what }) => what === 'LIST').length, 3);
});

test('what is appended while another append is on its way goes together', async () => {
  const { bucket, store } = await aStore();
  const journal = await store.openJournal(run, '1-1-a');
  bucket.asked.length = 0;
  await Promise.all(['one', 'two', 'three', 'four'].map((text) => journal.append([aMessage(text)])));
  assert.ok(bucket.asked.length <= 2, `${bucket.asked.length} requests`);
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one', 'two', 'three', 'four']);
});

test('after an append that failed only another writer goes on, and nothing follows the gap', async () => {
  const { bucket, store } = await aStore();
  const journal = await store.openJournal(run, '1-1-a');
  await journal.append([aMessage('one')]);
  bucket.habits = { fateOf: ({ what }) => (what === 'PUT' ? 'deny' : 'fine') };
  await assert.rejects(journal.append([aMessage('two')]), {
    code: 'store_unavailable',
    message: /403 AccessDenied/,
  });
  bucket.habits = {};
  await assert.rejects(journal.append([aMessage('three')]), { message: /only another writer can go on/ });
  await journal.close();
  const next = await store.openJournal(run, '2-1-b');
  assert.deepEqual(textsOf(next.folded.events), ['one']);
});

test('a piece that never arrived ends its part', async () => {
  const { bucket, store } = await aStore();
  const journal = await store.openJournal(run, '1-1-a');
  for (const text of ['one', 'two', 'three']) await journal.append([aMessage(text)]);
  bucket.objects.delete(`${runFolder}/1-1-a/000002.jsonl`);
  assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one']);
});

test('a result whose confirmation was lost was put by its writer, and by nobody else', async () => {
  const { bucket, store } = await aStore(first(({ what }) => what === 'PUT', 'lose'));
  assert.equal(await store.putResult(aResult()), true);
  assert.equal(bucket.asked.filter(({ what }) => what === 'PUT').length, 2);
  assert.equal(await store.putResult(aResult()), false);
});

test('trouble that does not pass is a fault that names the object and what the server said', async () => {
  const bucket = fake.bucket({ fateOf: () => 'slow_down' });
  const { address } = placeOf(bucket);
  const store = createS3Store(address, { patienceMs: 300, settleMs: 0 });
  await assert.rejects(store.readReport(sweep), {
    code: 'store_unavailable',
    blame: 'infrastructure',
    message: `the store is unavailable at ${address}/${sweep}/report.json: 503 SlowDown: as it was told`,
  });
  assert.ok(bucket.asked.length > 1);
});

test('a refusal that cannot pass is not asked again, and is named by every method', async () => {
  const { bucket, store } = await aStore({ fateOf: () => 'deny' });
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
    () => store.readShardResults(sweep, aShard(0, [])),
    () => store.putReport(sweep, {}),
    () => store.readReport(sweep),
  ];
  for (const work of works) {
    const before = bucket.asked.length;
    const named = {
      code: 'store_unavailable',
      message: new RegExp(`s3://${bucket.name}/.*403`),
    };
    await assert.rejects(work(), named, `${work}`);
    assert.equal(bucket.asked.length - before, 1, `${work}`);
  }
});

test('a bucket that is not there is a fault and no empty store', async () => {
  pointTo(fake.url);
  const store = createStore('s3://no-such-bucket/place');
  for (const work of [store.listSweeps, () => store.readSweep(sweep), () => store.readJournal(run)]) {
    await assert.rejects(work(), { code: 'store_unavailable', message: /NoSuchBucket/ });
  }
});

test('a server that nobody answers for is a fault that says so', async () => {
  pointTo('http://127.0.0.1:9');
  const store = createS3Store('s3://bucket/place', { patienceMs: 100, settleMs: 0 });
  await assert.rejects(store.probe(), { code: 'store_unavailable', message: /ECONNREFUSED/ });
});

test('compacted results cost a listing for hundreds of runs, and no object of their own', async () => {
  const { bucket, store } = await aStore();
  const runs = Array.from({ length: 500 }, (_, index) => aRun(`s${index}`));
  const results = runs.map(({ id, scenario }) => aResult({ run: id, scenario }));
  await Promise.all(results.map((result) => store.putResult(result)));
  await store.putShardResults(sweep, 0, results);
  bucket.asked.length = 0;
  assert.deepEqual(await store.readShardResults(sweep, aShard(0, runs)), results);
  const asked = Object.groupBy(bucket.asked, ({ what }) => what);
  assert.deepEqual([asked.GET?.length, asked.LIST?.length], [1, 2]);
});

test('results are found among those of other shards, whatever their keys and however short a listing is', async () => {
  const { store } = await aStore({ pageSize: 7 });
  const scenarios = [
    'a',
    'a!',
    'a0',
    'aé',
    '\u{1f600}',
    '\uffee',
    ...Array.from({ length: 30 }, (_, index) => `b${index}`),
  ];
  const runs = scenarios.flatMap((scenario) => [1, 2, 10].map((repeat) => aRun(scenario, repeat)));
  const results = runs.map(({ id, scenario, repeat }) => aResult({ run: id, scenario, repeat }));
  await Promise.all(results.map((result) => store.putResult(result)));
  for (const step of [1, 2, 5, 17]) {
    const isWanted = (_: unknown, index: number): boolean => index % step === 0;
    const found = await store.readShardResults(sweep, aShard(0, runs.filter(isWanted).toReversed()));
    assert.deepEqual(found, results.filter(isWanted).toReversed());
  }
});

test('endpoint, region and credentials are taken from a profile', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-profile-'));
  context.after(() => rm(folder, { recursive: true }));
  const profile = `endpoint_url = ${fake.url}\nregion = eu-north-1\n`;
  await writeFile(join(folder, 'config'), `[profile fleet]\n${profile}`);
  await writeFile(join(folder, 'credentials'), '[fleet]\naws_access_key_id = a\naws_secret_access_key = b\n');
  pointTo('');
  delete process.env.AWS_ENDPOINT_URL;
  delete process.env.AWS_ACCESS_KEY_ID;
  process.env.AWS_PROFILE = 'fleet';
  process.env.AWS_CONFIG_FILE = join(folder, 'config');
  process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'credentials');
  const bucket = fake.bucket();
  await createStore(`s3://${bucket.name}/place`).probe();
  assert.ok(bucket.asked.length > 0);
});

test('an address says what is wrong with it', () => {
  assert.equal(resolveStore('/home', 's3://bucket/a/b'), 's3://bucket/a/b');
  assert.equal(resolveStore('/home', 'sweeps'), '/home/sweeps');
  for (const address of [
    's3://',
    's3:///a',
    's3://b/',
    's3://bucket//a',
    's3://bucket/../a',
    's3://bu cket',
  ]) {
    assert.throws(() => resolveStore('/home', address), {
      name: 'UsageError',
      message: /s3:\/\/BUCKET\/PREFIX/,
    });
  }
  assert.throws(() => resolveStore('/home', 'gs://bucket'), {
    name: 'UsageError',
    message: /no store is known/,
  });
});

test("what a removal that broke off left is removed once it is old, and nothing that is somebody else's", async () => {
  const bucket = fake.bucket();
  const store = openFakeStore(placeOf(bucket));
  await store.createSweep(aSweep(), [aShard()]);
  await store.putResult(aResult());
  bucket.objects.delete(`some/where/${sweep}/sweep.json`);
  const body = Buffer.from('seven b');
  bucket.objects.set('some/where/.probe-1', { body });
  bucket.objects.set('some/where/photos/runs/1.jpg', { body });
  bucket.objects.set('some/where/photos/2.jpg', { body });
  const held = await store.sizeOfSweep(sweep);
  assert.equal(await store.removeLeftovers(Date.now() - 86_400_000), 0);
  assert.equal(await store.removeLeftovers(Date.now() + 60_000), held + body.length);
  assert.deepEqual([...bucket.objects.keys()], ['some/where/photos/runs/1.jpg', 'some/where/photos/2.jpg']);
});
