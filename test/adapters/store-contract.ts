import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Store } from '../../activities/ports.ts';
import { type Maker, startOther } from './other-process.ts';
import { aCheckSet, aMessage, aResult, aRun, aShard, aSweep, sweep, textsOf } from './store-builders.ts';

export type StoreUnderTest = {
  readonly store: Store;
  /** How another process makes the same store. */
  readonly elsewhere: Maker;
  dispose(): Promise<void>;
};

const run = aRun().id;

/** What every store must do. `fresh` makes an empty one. */
export function storeContract(name: string, fresh: () => Promise<StoreUnderTest>): void {
  const check = (title: string, work: (under: StoreUnderTest) => Promise<void>): void => {
    test(title, async () => {
      const under = await fresh();
      try {
        await work(under);
      } finally {
        await under.dispose();
      }
    });
  };
  describe(`${name}: sweeps`, () => sweepContract(check));
  describe(`${name}: journals`, () => journalContract(check));
  describe(`${name}: journals of several processes`, () => processContract(check));
  describe(`${name}: results`, () => resultContract(check));
}

type Check = (title: string, work: (under: StoreUnderTest) => Promise<void>) => void;

function sweepContract(check: Check): void {
  check('an empty store has nothing in it', async ({ store }) => {
    assert.deepEqual(await store.listSweeps(), []);
    assert.equal(await store.readSweep(sweep), undefined);
    assert.equal(await store.readReport(sweep), undefined);
    assert.equal(await store.readResult(run), undefined);
    assert.deepEqual((await store.readJournal(run)).events, []);
    assert.deepEqual(await store.readShardResults(sweep, aShard()), []);
  });

  check('a sweep is read as it was created, with its shards', async ({ store }) => {
    const shards = [aShard(0), aShard(12, [aRun('calm')])];
    assert.equal(await store.createSweep(aSweep(), shards), 'created');
    assert.deepEqual(await store.readSweep(sweep), aSweep());
    assert.deepEqual(await store.readShard(sweep, 0), shards[0]);
    assert.deepEqual(await store.readShard(sweep, 12), shards[1]);
  });

  check('a second sweep of the same id changes nothing', async ({ store }) => {
    await store.createSweep(aSweep(), [aShard()]);
    assert.equal(await store.createSweep(aSweep({ hash: 'other' }), [aShard(0, [])]), 'exists');
    assert.deepEqual(await store.readSweep(sweep), aSweep());
    assert.deepEqual(await store.readShard(sweep, 0), aShard());
  });

  check('of two processes that create one sweep, one does, and its shards go with it', async (under) => {
    const others = await Promise.all([startOther(under.elsewhere), startOther(under.elsewhere)]);
    try {
      for (let round = 0; round < 10; round++) {
        const id = `${sweep}-${round}`;
        const answers = await Promise.all(
          others.map((other, index) => {
            const shards = [0, 1, 2].map((shard) => aShard(shard, [aRun(`of-${index}`)]));
            return other.ask({ do: 'createSweep', record: aSweep({ id, hash: `of-${index}` }), shards });
          }),
        );
        assert.deepEqual([...answers].sort(), ['created', 'exists']);
        const winner = `of-${answers.indexOf('created')}`;
        assert.equal((await under.store.readSweep(id))?.hash, winner);
        const stored = await Promise.all([0, 1, 2].map((shard) => under.store.readShard(id, shard)));
        assert.deepEqual(
          stored.map(({ runs }) => runs[0]?.scenario),
          [winner, winner, winner],
        );
      }
    } finally {
      await Promise.all(others.map((other) => other.kill()));
    }
  });

  check(
    'a sweep is read with the check sets that came after it, the last one in force',
    async ({ store }) => {
      await store.createSweep(aSweep(), [aShard()]);
      assert.equal(await store.putCheckSet(sweep, aCheckSet(1)), true);
      assert.equal(await store.putCheckSet(sweep, aCheckSet(2, { allowed: 0.5 })), true);
      const read = await store.readSweep(sweep);
      assert.deepEqual(read?.checkSets, [aCheckSet(1), aCheckSet(2, { allowed: 0.5 })]);
      assert.deepEqual(read?.spec.thresholds, aCheckSet(2, { allowed: 0.5 }).thresholds);
      assert.equal(read?.hash, 'hash');
      assert.deepEqual(await store.readShard(sweep, 0), aShard());
    },
  );

  check('a check set is put once', async ({ store }) => {
    await store.createSweep(aSweep(), [aShard()]);
    assert.equal(await store.putCheckSet(sweep, aCheckSet(1)), true);
    assert.equal(await store.putCheckSet(sweep, aCheckSet(1, { allowed: 0.5 })), false);
    assert.deepEqual((await store.readSweep(sweep))?.checkSets, [aCheckSet(1)]);
  });

  check('sweeps are listed by id, and only sweeps', async ({ store }) => {
    await store.createSweep(aSweep({ id: 'b' }), []);
    await store.createSweep(aSweep({ id: 'a' }), []);
    await store.probe();
    assert.deepEqual(await store.listSweeps(), ['a', 'b']);
  });

  check('a shard that is not there is a fault that names it', async ({ store }) => {
    await store.createSweep(aSweep(), [aShard()]);
    await assert.rejects(store.readShard(sweep, 3), { code: 'store_unavailable', message: /0003\.json/ });
  });

  check('an id that leads out of the store is refused', async ({ store }) => {
    await assert.rejects(store.readSweep('../other'), { name: 'UsageError' });
    await assert.rejects(store.openJournal(`${sweep}/../1`, '1-1-a'), { name: 'UsageError' });
    await assert.rejects(store.readJournal(`${sweep}/a/b/1`), { name: 'UsageError' });
  });

  check('a removed sweep is gone with its runs and its report, and others stay', async ({ store }) => {
    for (const id of [sweep, 'other']) await store.createSweep(aSweep({ id }), [aShard()]);
    const journal = await store.openJournal(run, '1-1-a');
    await journal.append([aMessage('one')]);
    await journal.close();
    await store.putResult(aResult());
    await store.putReport(sweep, { gate: 'open' });
    await store.removeSweep(sweep);
    assert.deepEqual(await store.listSweeps(), ['other']);
    assert.equal(await store.readReport(sweep), undefined);
    assert.equal(await store.readResult(run), undefined);
    assert.deepEqual((await store.readJournal(run)).events, []);
    assert.deepEqual(await store.readShard('other', 0), aShard());
    await store.removeSweep(sweep);
  });

  check('the id of a removed sweep is free', async ({ store }) => {
    await store.createSweep(aSweep(), [aShard()]);
    await store.removeSweep(sweep);
    assert.equal(await store.createSweep(aSweep({ hash: 'other' }), [aShard(0, [])]), 'created');
    assert.deepEqual(await store.readShard(sweep, 0), aShard(0, []));
  });

  check('the size of a sweep is that of all it holds', async ({ store }) => {
    assert.equal(await store.sizeOfSweep(sweep), 0);
    await store.createSweep(aSweep(), [aShard()]);
    const before = await store.sizeOfSweep(sweep);
    await store.putReport(sweep, 'x'.repeat(1_000));
    assert.equal(await store.sizeOfSweep(sweep), before + 1_003);
  });

  check('what is no leftover stays', async ({ store }) => {
    await store.createSweep(aSweep(), [aShard()]);
    await store.putResult(aResult());
    assert.equal(await store.removeLeftovers(Number.MAX_SAFE_INTEGER), 0);
    assert.deepEqual(await store.readSweep(sweep), aSweep());
    assert.deepEqual(await store.readResult(run), aResult());
  });

  check('a report is read as it was last put', async ({ store }) => {
    await store.createSweep(aSweep(), []);
    await store.putReport(sweep, { gate: 'shut' });
    await store.putReport(sweep, { gate: 'open' });
    assert.deepEqual(await store.readReport(sweep), { gate: 'open' });
  });
}

function journalContract(check: Check): void {
  check('events are read in the order in which they were appended', async ({ store }) => {
    const journal = await store.openJournal(run, '1-1-a');
    await Promise.all(['one', 'two', 'three'].map((text) => journal.append([aMessage(text)])));
    await journal.append([aMessage('four'), aMessage('five')]);
    await journal.close();
    assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one', 'two', 'three', 'four', 'five']);
  });

  check('an event is read as it was appended', async ({ store }) => {
    const journal = await store.openJournal(run, '1-1-a');
    const event = aMessage('line\nend, \u2028, \ud83d\ude00, a lone \ud800 and "quotes"');
    await journal.append([event]);
    await journal.close();
    assert.deepEqual((await store.readJournal(run)).events[1], event);
  });

  check(
    'an appended event is there for others before the journal is flushed or closed',
    async ({ store }) => {
      const journal = await store.openJournal(run, '1-1-a');
      await journal.append([aMessage('one')]);
      assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one']);
      await journal.close();
    },
  );

  check('a journal says what held when it was opened, without its own opening', async ({ store }) => {
    const first = await store.openJournal(run, '1-1-a');
    assert.deepEqual(first.folded, { events: [], ignored: [], accepts: {}, writers: 0 });
    await first.append([aMessage('one')]);
    await first.close();
    const second = await store.openJournal(run, '2-1-b');
    assert.deepEqual(textsOf(second.folded.events), ['one']);
    assert.deepEqual(second.folded.accepts, { '1-1-a': 2 });
    await second.close();
  });

  check('a part opens with what it accepts of each earlier one', async ({ store }) => {
    await (await store.openJournal(run, '1-1-a')).close();
    await (await store.openJournal(run, '2-1-b')).close();
    const kinds = (await store.readJournal(run)).events;
    assert.deepEqual(
      kinds.map((event) => event.kind === 'resumed' && event.accepts),
      [{}, { '1-1-a': 1 }],
    );
  });

  check('what an earlier writer adds after a later one has opened is ignored for ever', async ({ store }) => {
    const early = await store.openJournal(run, '1-1-a');
    await early.append([aMessage('held')]);
    const late = await store.openJournal(run, '2-1-b');
    await early.append([aMessage('too late')]);
    await late.append([aMessage('goes on')]);
    const next = await store.openJournal(run, '3-1-c');
    await early.append([aMessage('later still')]);
    const folded = await store.readJournal(run);
    assert.deepEqual(textsOf(folded.events), ['held', 'goes on']);
    assert.deepEqual(textsOf(folded.ignored), ['too late', 'later still']);
    await Promise.all([early, late, next].map((journal) => journal.close()));
  });

  check('a writer is refused where a later one has the journal, and changes nothing', async ({ store }) => {
    const late = await store.openJournal(run, '2-1-b');
    await late.append([aMessage('one')]);
    await assert.rejects(store.openJournal(run, '1-9-z'), {
      code: 'store_unavailable',
      message: /the later writer 2-1-b has this journal/,
    });
    const { events, ignored, writers } = await store.readJournal(run);
    assert.deepEqual([textsOf(events), ignored, writers], [['one'], [], 1]);
    await late.close();
  });

  check("nobody can write to another's part", async ({ store }) => {
    const journal = await store.openJournal(run, '1-1-a');
    await journal.append([aMessage('mine')]);
    await assert.rejects(store.openJournal(run, '1-1-a'), { code: 'store_unavailable' });
    await journal.close();
    assert.deepEqual(textsOf((await store.readJournal(run)).events), ['mine']);
  });

  check('a flushed journal reads as before, however often it is flushed', async ({ store }) => {
    const first = await store.openJournal(run, '1-1-a');
    await first.append([aMessage('one')]);
    const journal = await store.openJournal(run, '2-1-b');
    await journal.append([aMessage('two')]);
    await journal.flush();
    await journal.append([aMessage('three')]);
    await journal.flush();
    await Promise.all([first.close(), journal.close()]);
    assert.deepEqual(textsOf((await store.readJournal(run)).events), ['one', 'two', 'three']);
  });

  check('journals of other runs, repeats and variants are apart', async ({ store }) => {
    const runs = [`${sweep}/a/1`, `${sweep}/a/2`, `${sweep}/a@small/1`, `${sweep}/a%2Fb/1`];
    for (const id of runs) {
      const journal = await store.openJournal(id, '1-1-a');
      await journal.append([aMessage(id)]);
      await journal.close();
    }
    for (const id of runs) assert.deepEqual(textsOf((await store.readJournal(id)).events), [id]);
  });
}

function processContract(check: Check): void {
  check(
    'what a frozen process adds after it was taken over is ignored by every later fold',
    async (under) => {
      const frozen = await startOther(under.elsewhere);
      try {
        await frozen.ask({ do: 'open', run, writer: '1-1-frozen' });
        frozen.tell({ do: 'flood', length: 10 });
        for (let count = 0; count < 20; count++) await frozen.answer();
        frozen.freeze();
        const journal = await under.store.openJournal(run, '2-1-b');
        const held = textsOf(journal.folded.events);
        assert.ok(held.length >= 20, 'an append that was confirmed is missing');
        await journal.append([aMessage('taken over')]);
        frozen.thaw();
        const added = held.length + 20;
        while (Number(await frozen.answer()) < added);

        const folded = await under.store.readJournal(run);
        assert.deepEqual(textsOf(folded.events), [...held, 'taken over']);
        assert.ok(textsOf(folded.ignored).length >= 20, 'the frozen process added nothing');
        const next = await under.store.openJournal(run, '3-1-c');
        assert.deepEqual(textsOf(next.folded.events), [...held, 'taken over']);
        await Promise.all([journal.close(), next.close()]);
      } finally {
        await frozen.kill();
      }
    },
  );

  check('a writer killed while it appends loses nothing that was confirmed', async (under) => {
    const killed = await startOther(under.elsewhere);
    let confirmed = 0;
    try {
      await killed.ask({ do: 'open', run, writer: '1-1-killed' });
      killed.tell({ do: 'flood', length: 200_000 });
      while (confirmed < 10) confirmed = Number(await killed.answer());
    } finally {
      await killed.kill();
    }
    const journal = await under.store.openJournal(run, '2-1-b');
    await journal.append([aMessage('goes on')]);
    await journal.close();
    const texts = textsOf((await under.store.readJournal(run)).events);
    assert.deepEqual(
      texts.map((text) => text.split(' ')[0]),
      [...texts.slice(0, -1).keys()].map((index) => `${index + 1}`).concat('goes'),
    );
    assert.ok(texts.length > confirmed);
  });
}

function resultContract(check: Check): void {
  check('a result is read as it was put', async ({ store }) => {
    const result = aResult({ outcome: 'failed', blame: 'target', ending: { kind: 'max_turns' } });
    assert.equal(await store.putResult(result), true);
    assert.deepEqual(await store.readResult(run), result);
  });

  check('the first result of a generation stays', async ({ store }) => {
    await store.putResult(aResult({ outcome: 'failed' }));
    assert.equal(await store.putResult(aResult({ outcome: 'passed' })), false);
    assert.equal((await store.readResult(run))?.outcome, 'failed');
  });

  check('the result of the highest generation counts', async ({ store }) => {
    for (const generation of [9, 10, 2]) await store.putResult(aResult({ generation }));
    assert.equal((await store.readResult(run))?.generation, 10);
  });

  check('of several processes that put one result, exactly one does', async (under) => {
    const others = await Promise.all([1, 2, 3].map(() => startOther(under.elsewhere)));
    try {
      for (let generation = 1; generation <= 10; generation++) {
        const answers = await Promise.all(
          others.map((other, turns) =>
            other.ask({ do: 'putResult', result: aResult({ generation, turns }) }),
          ),
        );
        assert.deepEqual([...answers].sort(), [false, false, true]);
        assert.equal((await under.store.readResult(run))?.turns, answers.indexOf(true));
      }
    } finally {
      await Promise.all(others.map((other) => other.kill()));
    }
  });

  check(
    'the results of a shard are those of its runs, in their order, compacted or not',
    async ({ store }) => {
      const shard = aShard(3, [aRun('a'), aRun('b'), aRun('c'), aRun('d')]);
      const of = (scenario: string) => aResult({ scenario, run: aRun(scenario).id });
      await store.putShardResults(sweep, 3, [of('c'), of('a')]);
      await store.putResult(of('b'));
      assert.deepEqual(await store.readShardResults(sweep, shard), [of('a'), of('b'), of('c')]);
    },
  );

  check(
    'a result of the same or a newer generation takes the place of a compacted one',
    async ({ store }) => {
      const shard = aShard(0, [aRun('same'), aRun('newer'), aRun('older')]);
      const of = (scenario: string, generation: number, turns: number) =>
        aResult({ scenario, run: aRun(scenario).id, generation, turns });
      await store.putShardResults(sweep, 0, [of('same', 2, 0), of('newer', 2, 0), of('older', 2, 0)]);
      for (const result of [of('same', 2, 1), of('newer', 3, 1), of('older', 1, 1)]) {
        await store.putResult(result);
      }
      const results = await store.readShardResults(sweep, shard);
      assert.deepEqual(
        results.map(({ turns }) => turns),
        [1, 1, 0],
      );
    },
  );

  check('compacted results can be put anew', async ({ store }) => {
    await store.putShardResults(sweep, 0, [aResult({ turns: 1 })]);
    await store.putShardResults(sweep, 0, [aResult({ turns: 2 })]);
    assert.deepEqual(await store.readShardResults(sweep, aShard()), [aResult({ turns: 2 })]);
  });
}
