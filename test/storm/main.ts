import process from 'node:process';
import { parseArgs } from 'node:util';
import { formatReaches, formatTable } from '../../bench/table.ts';
import { playStorm } from './storm.ts';
import { figuresOf, judgePromises } from './verdict.ts';

// npm run storm [-- --seed N] [--minutes M] [--runs N]: a fleet under fire; exit code 1 where a promise was broken.

const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string' }, runs: { type: 'string' } },
});
const seed = numberOf('seed', values.seed, Math.floor(Date.now() / 1000) % 1_000_000);
const minutes = numberOf('minutes', values.minutes, 3);
const runs = numberOf('runs', values.runs, Math.ceil(minutes * 80));
const repeat = `npm run storm -- --seed ${seed} --minutes ${minutes} --runs ${runs}`;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
const say = (line: string) => process.stderr.write(`${line}\n`);
say(repeat);

try {
  const { verdict, evidence } = await playStorm(
    { seed, minutes, runs, say, signal: stopping.signal },
    (record) => {
      const promises = judgePromises(record);
      return {
        kept: promises.every(({ reached }) => reached),
        verdict: { promises, figures: figuresOf(record) },
      };
    },
  );
  const { promises, figures } = verdict;
  for (const { what, broken } of promises)
    if (broken.length > 0)
      say(
        `\n${what}:\n${broken
          .slice(0, 10)
          .map((line) => `  ${line}`)
          .join('\n')}`,
      );
  process.stdout.write(`\n${formatTable(['storm', seed.toString()], figures)}\n${formatReaches(promises)}`);
  process.stdout.write(`\nAgain: ${repeat}\n`);
  if (evidence !== undefined) {
    process.stdout.write(`A promise was broken. What is known of it: ${evidence}\n`);
    process.exitCode = 1;
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  say('stopped');
  process.exitCode = 130;
}

function numberOf(name: string, text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  say(`--${name} must be a number above 0`);
  return process.exit(2);
}
