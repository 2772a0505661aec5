import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { cleanEnv, type Measured, measure, regatta } from './measure.ts';
import { startPracticeProcess } from './practice-process.ts';
import { removeFolder, writeSweep } from './sweep-files.ts';
import { formatReaches, formatTable } from './table.ts';

const mostEvents = 8_000;
const runFile = promisify(execFile);

type Longest = { readonly workflows: number; readonly events: number; readonly workflow: string };

/** Long conversations in short stretches: how long the histories get, in a workflow each and inline. */
export async function measureHistories({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const conversations = isQuick ? 50 : 500;
  const practice = startPracticeProcess(2_000);
  const rows: (readonly string[])[] = [];
  let most = 0;
  try {
    const { url } = await practice.seen();
    for (const [way, flag] of [
      ['a workflow each', '--no-bulk'],
      ['inline', '--bulk'],
    ] as const) {
      const folder = await writeSweep(url, {
        conversations,
        window: conversations,
        turns: 20,
        stretch: '20s',
      });
      const [longest, measured] = await onKeptServer(folder, () =>
        measure(folder, [regatta, 'run', 'sweep.yaml', '--json', flag], practice),
      );
      most = Math.max(most, longest.events);
      rows.push([
        way,
        ...[conversations, longest.workflows, longest.events].map(String),
        longest.workflow,
        measured.wallSeconds.toFixed(1),
      ]);
    }
  } finally {
    practice.stop();
  }
  const head = ['way', 'conversations', 'workflows', 'events of the longest', 'which', 'wall s'];
  const reach = {
    what: 'events of any history',
    limit: `< ${mostEvents}`,
    value: `${most}`,
    reached: most < mostEvents,
  };
  return `${formatTable(head, rows)}\n${formatReaches([reach])}`;
}

/** Plays on a server that stays until its histories have been looked at. */
async function onKeptServer(
  folder: string,
  play: () => Promise<Measured>,
): Promise<readonly [Longest, Measured]> {
  const server = (command: string) =>
    runFile(regatta, ['server', command, '--json'], { cwd: folder, env: cleanEnv() });
  const { stdout } = await server('start');
  const { address } = JSON.parse(stdout) as { address: string };
  try {
    const measured = await play();
    return [await longestHistory(address), measured];
  } finally {
    await server('stop');
    await removeFolder(folder);
  }
}

async function longestHistory(address: string): Promise<Longest> {
  const connection = await Connection.connect({ address });
  let longest: Longest = { workflows: 0, events: 0, workflow: '' };
  try {
    for await (const { workflowId, historyLength } of new Client({ connection }).workflow.list()) {
      const workflows = longest.workflows + 1;
      longest =
        historyLength > longest.events
          ? { workflows, events: historyLength, workflow: kindOf(workflowId) }
          : { ...longest, workflows };
    }
  } finally {
    await connection.close();
  }
  return longest;
}

function kindOf(workflow: string): string {
  if (workflow.includes('#shard')) return 'a shard';
  return workflow.includes('/') ? 'a run' : 'the sweep';
}
