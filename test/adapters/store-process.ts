/** Another process on the same store: does the orders that come in as JSON lines, answers each with one line. */
import { createInterface } from 'node:readline';
import type { JournalWriter, Store } from '../../activities/ports.ts';
import type { Maker, Order } from './other-process.ts';
import { aMessage } from './store-builders.ts';

const maker: Maker = JSON.parse(process.argv[2] ?? '');
const store: Store = (await import(maker.module))[maker.name](maker.argument);
let journal: JournalWriter | undefined;

async function carryOut(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'createSweep':
      return store.createSweep(order.record, order.shards);
    case 'putResult':
      return store.putResult(order.result);
    case 'open':
      journal = await store.openJournal(order.run, order.writer);
      return 'opened';
    case 'append':
      await journal?.append(order.events);
      return 'appended';
    case 'flood':
      return flood(order.length);
  }
}

/** Appends without end and says after each append how many were confirmed. */
async function flood(length: number): Promise<never> {
  for (let count = 1; ; count++) {
    await journal?.append([aMessage(`${count} ${'x'.repeat(length)}`)]);
    process.stdout.write(`${count}\n`);
  }
}

process.stdout.write('"ready"\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await carryOut(JSON.parse(line)))}\n`);
}
