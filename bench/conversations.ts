import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Measured, measure, regatta } from './measure.ts';
import { type PracticeProcess, startPracticeProcess } from './practice-process.ts';
import { removeFolder, type SweepSize, writeSweep } from './sweep-files.ts';
import { formatReaches, formatTable, type Reach } from './table.ts';

type Way = 'bare HTTP loop' | 'a workflow each' | 'inline';
type Row = { readonly way: Way; readonly size: SweepSize; readonly measured: Measured };

const turns = 5;
const latencyMs = 200;
const small: SweepSize = { conversations: 200, window: 50, turns };
const large: SweepSize = { conversations: 1_000, window: 200, turns };
const quick: SweepSize = { conversations: 50, window: 50, turns };

const flags: Readonly<Record<Exclude<Way, 'bare HTTP loop'>, string>> = {
  'a workflow each': '--no-bulk',
  inline: '--bulk',
};

/** The same conversations by a bare loop, in a workflow each and inline: one table, and what was to be reached. */
export async function compareConversations({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const practice = startPracticeProcess(latencyMs);
  const rows: Row[] = [];
  try {
    const ways: readonly Way[] = ['bare HTTP loop', 'a workflow each', 'inline'];
    for (const size of isQuick ? [quick] : [small, large]) {
      for (const way of ways) rows.push({ way, size, measured: await play(way, size, practice) });
    }
  } finally {
    practice.stop();
  }
  const table = formatTable(
    head,
    rows.map((row) => cellsOf(row, bareOf(rows, row.size))),
  );
  return isQuick ? table : `${table}\n${formatReaches(reachesOf(rows))}`;
}

async function play(way: Way, size: SweepSize, practice: PracticeProcess): Promise<Measured> {
  const { url } = await practice.seen();
  const folder = await writeSweep(url, size);
  try {
    const measured = await measure(folder, argsOf(way, size, url), practice);
    const due = size.conversations * size.turns * 2;
    if (measured.calls !== due) throw new Error(`${way}: ${measured.calls} calls instead of ${due}`);
    return measured;
  } finally {
    await removeFolder(folder);
  }
}

function argsOf(way: Way, { conversations, window }: SweepSize, url: string): readonly string[] {
  if (way !== 'bare HTTP loop') return [regatta, 'run', 'sweep.yaml', '--json', flags[way]];
  return [
    process.execPath,
    fileURLToPath(new URL('bare-loop.ts', import.meta.url)),
    url,
    ...[conversations, window, turns].map(String),
  ];
}

const head = [
  ...['way', 'conversations', 'window', 'wall s', 'to bare', 'server CPU s', 'run CPU s'],
  ...['peak RSS MiB', 'start to first call s', 'calls each', 'probes'],
];

function cellsOf({ way, size, measured }: Row, bare: Measured): readonly string[] {
  return [
    way,
    size.conversations.toString(),
    size.window.toString(),
    measured.wallSeconds.toFixed(1),
    (measured.wallSeconds / bare.wallSeconds).toFixed(2),
    way === 'bare HTTP loop' ? '-' : measured.serverCpuSeconds.toFixed(1),
    measured.cpuSeconds.toFixed(1),
    measured.peakRssMiB.toFixed(0),
    measured.startSeconds.toFixed(1),
    (measured.calls / size.conversations).toString(),
    measured.probes.toString(),
  ];
}

function measuredOf(rows: readonly Row[], way: Way, size: SweepSize): Measured {
  const row = rows.find((candidate) => candidate.way === way && candidate.size === size);
  if (row === undefined) throw new Error(`${way} was not measured`);
  return row.measured;
}

function bareOf(rows: readonly Row[], size: SweepSize): Measured {
  return measuredOf(rows, 'bare HTTP loop', size);
}

function reachesOf(rows: readonly Row[]): readonly Reach[] {
  const toBare = (what: string, way: Way, size: SweepSize, limit: number): Reach => {
    const ratio = measuredOf(rows, way, size).wallSeconds / bareOf(rows, size).wallSeconds;
    return { what, limit: `<= ${limit} x bare`, value: `${ratio.toFixed(2)} x`, reached: ratio <= limit };
  };
  const runs = rows.filter(({ way }) => way !== 'bare HTTP loop').map(({ measured }) => measured);
  const rss = Math.max(...runs.map(({ peakRssMiB }) => peakRssMiB));
  const start = Math.max(...runs.map(({ startSeconds }) => startSeconds));
  return [
    toBare('inline, 1,000 at window 200 (the default there)', 'inline', large, 1.2),
    toBare('a workflow each, 1,000 at window 200', 'a workflow each', large, 2.5),
    toBare('a workflow each, 200 at window 50 (the default there)', 'a workflow each', small, 1.25),
    {
      what: 'peak memory of the run',
      limit: '< 500 MiB',
      value: `${rss.toFixed(0)} MiB`,
      reached: rss < 500,
    },
    {
      what: 'start of the command to its first call',
      limit: '< 6 s',
      value: `${start.toFixed(1)} s`,
      reached: start < 6,
    },
  ];
}
