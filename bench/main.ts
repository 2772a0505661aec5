import { availableParallelism, cpus, totalmem } from 'node:os';
import process from 'node:process';
import { compareConversations } from './conversations.ts';
import { measureDrain } from './drain.ts';
import { measureFleet } from './fleet.ts';
import { measureHistories } from './histories.ts';
import { measureModules } from './modules.ts';
import { measurePace } from './pace.ts';
import { measureScale } from './scale.ts';
import { measureScaleReport } from './scale-report.ts';
import { measureThroughput } from './throughput.ts';

// npm run bench [-- NAME|all] [--quick]: figures of one machine in one run.
// Ratios within a run are what counts: seconds differ from machine to machine and from hour to hour.

const parts = {
  conversations: compareConversations,
  throughput: measureThroughput,
  histories: measureHistories,
  modules: measureModules,
  pace: measurePace,
  fleet: measureFleet,
  drain: measureDrain,
  scale: measureScale,
  'scale-report': measureScaleReport,
};

const words = process.argv.slice(2);
const isQuick = words.includes('--quick');
const [asked = 'conversations', ...others] = words.filter((word) => word !== '--quick');
const chosen = Object.entries(parts).filter(([name]) => asked === 'all' || asked === name);
if (chosen.length === 0 || others.length > 0) {
  process.stderr.write(`usage: npm run bench -- [${Object.keys(parts).join('|')}|all] [--quick]\n`);
  process.exit(2);
}

process.stdout.write(`${machineLine()}\n`);
for (const [name, part] of chosen) process.stdout.write(`\n## ${name}\n\n${await part({ isQuick })}`);

function machineLine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores (${model}), ${memory} GiB, Node ${process.version}`;
}
