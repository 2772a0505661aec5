import { type Measured, measure, regatta } from './measure.ts';
import { startPracticeProcess } from './practice-process.ts';
import { removeFolder, writeSweep } from './sweep-files.ts';
import { formatReaches, formatTable } from './table.ts';

const leastRunsPerSecond = 250;
/** Memory counts as flat where the last quarter holds at most so much more than the first. */
const flat = 1.25;

/** Many short runs, inline: how many a second, and whether memory grows with them. */
export async function measureThroughput({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const conversations = isQuick ? 1_000 : 10_000;
  const practice = startPracticeProcess(20);
  const { url } = await practice.seen();
  const folder = await writeSweep(url, { conversations, window: 200, turns: 1 });
  try {
    const measured = await measure(folder, [regatta, 'run', 'sweep.yaml', '--json', '--bulk'], practice);
    return describe(measured, conversations);
  } finally {
    practice.stop();
    await removeFolder(folder);
  }
}

function describe(measured: Measured, conversations: number): string {
  if (measured.calls !== conversations * 2)
    throw new Error(`${measured.calls} calls for ${conversations} runs of one turn`);
  const perSecond = conversations / measured.wallSeconds;
  const quarters = [0.25, 0.5, 0.75, 1].map((share) => rssAt(measured, share));
  const growth = (quarters[3] ?? 0) / (quarters[0] ?? 1);
  const table = formatTable(
    [
      'runs',
      'wall s',
      'runs a second',
      'server CPU s',
      'run CPU s',
      'RSS MiB at 25 %',
      '50 %',
      '75 %',
      '100 %',
    ],
    [
      [
        conversations.toString(),
        ...[measured.wallSeconds, perSecond, measured.serverCpuSeconds, measured.cpuSeconds].map((value) =>
          value.toFixed(1),
        ),
        ...quarters.map((rss) => rss.toFixed(0)),
      ],
    ],
  );
  return `${table}\n${formatReaches([
    {
      what: 'inline runs of one turn',
      limit: `> ${leastRunsPerSecond} a second`,
      value: perSecond.toFixed(0),
      reached: perSecond > leastRunsPerSecond,
    },
    {
      what: 'memory at the end to memory at a quarter',
      limit: `<= ${flat} x`,
      value: `${growth.toFixed(2)} x`,
      reached: growth <= flat,
    },
  ])}`;
}

/** Memory when that share of all calls had been made: the first sample from then on, else the last before. */
function rssAt({ samples, calls }: Measured, share: number): number {
  const held = samples.filter(({ rssMiB }) => rssMiB > 0);
  return (held.find((sample) => sample.calls >= share * calls) ?? held.at(-1))?.rssMiB ?? 0;
}
