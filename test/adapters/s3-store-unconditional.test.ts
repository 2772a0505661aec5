import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Asked, type FakeBucket, type Fate, openFakeStore, startFakeS3 } from './s3-fake.ts';
import { aResult, aRun } from './store-builders.ts';
import { storeContract } from './store-contract.ts';

const fake = await startFakeS3();
after(() => fake.close());

const placeOf = (bucket: FakeBucket) => ({ url: fake.url, address: `s3://${bucket.name}/some/where` });

storeContract('S3 store where conditions are ignored and listings are short', async () => {
  const place = placeOf(fake.bucket({ conditions: 'ignored', pageSize: 3 }));
  return {
    store: openFakeStore(place),
    elsewhere: { module: import.meta.resolve('./s3-fake.ts'), name: 'openFakeStore', argument: place },
    dispose: async () => {},
  };
});

for (const conditions of ['ignored', 'refused'] as const) {
  test(`of five writers who all saw no result, one puts it, where conditions are ${conditions}`, async () => {
    const writers = [1, 2, 3, 4, 5];
    const bucket = fake.bucket({ conditions, fateOf: atOnce('HEAD', writers.length) });
    const answers = await Promise.all(
      writers.map((turns) => openFakeStore(placeOf(bucket)).putResult(aResult({ turns }))),
    );
    assert.equal(answers.filter(Boolean).length, 1);
    const stored = await openFakeStore(placeOf(bucket)).readResult(aRun().id);
    assert.equal(stored?.turns, writers[answers.indexOf(true)]);
  });
}

test('a write that came later than others wait for is not said to be the first, where conditions are ignored', async () => {
  const bucket = fake.bucket({ conditions: 'ignored' });
  const slow = openFakeStore(placeOf(bucket));
  await slow.probe();
  const first = openFakeStore(placeOf(bucket));
  await first.probe();
  let confirmed: Promise<boolean> | undefined;
  bucket.habits = {
    conditions: 'ignored',
    async fateOf({ what, key }): Promise<Fate> {
      // The slow one's put reaches the server only after the other's was confirmed.
      if (what !== 'PUT' || !key.includes('result') || confirmed !== undefined) return 'fine';
      confirmed = first.putResult(aResult({ turns: 1 }));
      await confirmed;
      return 'fine';
    },
  };
  assert.equal(await slow.putResult(aResult({ turns: 2 })), false);
  assert.equal(await confirmed, true);
});

/** Holds the requests of a kind until so many are there. */
function atOnce(kind: Asked['what'], count: number) {
  const all = Promise.withResolvers<'fine'>();
  let asked = 0;
  return ({ what }: Asked) => {
    if (what !== kind) return 'fine' as const;
    asked += 1;
    if (asked === count) all.resolve('fine');
    return all.promise;
  };
}
