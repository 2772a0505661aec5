import process from 'node:process';
import { startPracticeModel } from '../practice/server.ts';

// The practice model in a process of its own, so that neither its time nor its memory is the run's.
// Told over IPC; notes when the first call of a conversation came.

const practice = await startPracticeModel({ latencyMs: Number(process.argv[2]) });
let firstCallAt: number | undefined;
let watch: NodeJS.Timeout | undefined;

function look(): void {
  if (practice.stats().calls === 0) return;
  firstCallAt = Date.now();
  clearInterval(watch);
}

process.on('message', (request) => {
  if (request === 'reset') {
    practice.reset();
    firstCallAt = undefined;
    clearInterval(watch);
    watch = setInterval(look, 5);
  }
  process.send?.({ url: practice.url, firstCallAt, stats: practice.stats() });
});
process.on('disconnect', () => process.exit());
