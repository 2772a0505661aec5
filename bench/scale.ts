import { type Peak, peakOfCommand } from './command-peak.ts';
import { type Measured, measure, regatta } from './measure.ts';
import { startPracticeProcess } from './practice-process.ts';
import { removeFolder, writeSweep } from './sweep-files.ts';
import { formatReaches, formatTable } from './table.ts';

const sweep = 'scale';
const callsOfRun = 2;
/** Memory counts as flat where the last quarter's median is at most so much more than the first's. */
const flat = 1.25;
const reportLimitMiB = 500;

/** So many inline runs of one turn without latency, then their report by a process of its own. */
export async function measureScale({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const runs = isQuick ? 3_000 : 100_000;
  const practice = startPracticeProcess(0);
  const { url } = await practice.seen();
  const folder = await writeSweep(url, { conversations: runs, window: 200, turns: 1 });
  try {
    const measured = await measure(
      folder,
      [regatta, 'run', 'sweep.yaml', '--bulk', '--json', '--id', sweep],
      practice,
    );
    if (measured.calls !== runs * callsOfRun)
      throw new Error(`${measured.calls} calls for ${runs} runs of one turn`);
    return describe(runs, measured, await peakOfCommand(folder, ['report', sweep]));
  } finally {
    practice.stop();
    await removeFolder(folder);
  }
}

function describe(runs: number, measured: Measured, report: Peak): string {
  const [first, second, third, last] = [0, 1, 2, 3].map((quarter) => medianRss(measured, quarter));
  const growth = (last ?? 0) / (first ?? 1);
  const table = formatTable(
    ['runs', 'wall s', 'runs a second', 'server CPU s', 'run CPU s', 'RSS MiB by quarter', 'peak RSS MiB'],
    [
      [
        runs.toString(),
        measured.wallSeconds.toFixed(0),
        (runs / measured.wallSeconds).toFixed(0),
        measured.serverCpuSeconds.toFixed(0),
        measured.cpuSeconds.toFixed(0),
        [first, second, third, last].map((rss) => rss?.toFixed(0)).join(', '),
        measured.peakRssMiB.toFixed(0),
      ],
    ],
  );
  return `${table}\n${formatReaches([
    {
      what: 'median memory of the last quarter to that of the first',
      limit: `<= ${flat} x`,
      value: `${growth.toFixed(2)} x`,
      reached: growth <= flat,
    },
    {
      what: `peak memory of the report of ${runs} runs, in ${report.wallSeconds.toFixed(1)} s`,
      limit: `< ${reportLimitMiB} MiB`,
      value: `${report.peakRssMiB.toFixed(0)} MiB`,
      reached: report.peakRssMiB < reportLimitMiB,
    },
  ])}`;
}

/** The median of the samples that were taken while a quarter (0 to 3) of all calls was made. */
function medianRss({ samples, calls }: Measured, quarter: number): number {
  const held = samples
    .filter((sample) => sample.rssMiB > 0 && sample.calls > 0 && sample.calls < calls)
    .filter((sample) => Math.floor((sample.calls / calls) * 4) === quarter)
    .map(({ rssMiB }) => rssMiB)
    .sort((a, b) => a - b);
  return held[Math.floor(held.length / 2)] ?? 0;
}
