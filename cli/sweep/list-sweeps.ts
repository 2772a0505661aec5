import type { Client } from '@temporalio/client';
import type { Store } from '../../activities/ports.ts';
import { systemClock } from '../../adapters/clock.ts';
import { checkSetOf } from '../../domain/check-set.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import { readPlayedRuns } from '../../domain/played-sweep.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { endedRuns } from '../../domain/tally.ts';
import { UsageError } from '../../domain/usage-error.ts';
import type { SweepProgress } from '../../workflows/messages.ts';
import { isRunning } from './launch.ts';

/** `interrupted`: it has not ended, and no workflow plays it that can be seen from here. */
export type ListedState = 'running' | 'paused' | 'halted' | 'ended' | 'cancelled' | 'interrupted';

/** One sweep of the list, in the shape in which it is printed. */
export type ListedSweep = {
  readonly id: string;
  readonly state: ListedState;
  /** Null until it has ended. */
  readonly gate: string | null;
  readonly planned: number;
  /** How many of the planned runs have ended. */
  readonly ended: number;
  /** ISO 8601, UTC. */
  readonly started: string;
};

export type Listing = {
  readonly sweeps: readonly ListedSweep[];
  /** What is wrong with sweeps that cannot be read. */
  readonly problems: readonly string[];
};

const atOnce = 16;

/** The sweeps of a store, the newest first; with a client, what their workflows say goes first. */
export async function listSweeps(store: Store, client: Client | undefined): Promise<Listing> {
  const ids = await store.listSweeps();
  const problems: string[] = [];
  const records: SweepRecord[] = [];
  const sweeps: ListedSweep[] = [];
  for (const id of ids) {
    const record = await store.readSweep(id).catch((error: unknown) => problemOf(error, problems));
    if (record !== undefined) records.push(record);
  }
  records.sort((a, b) => b.created.at - a.created.at || (a.id < b.id ? -1 : 1));
  for (let from = 0; from < records.length; from += atOnce) {
    sweeps.push(
      ...(await Promise.all(
        records.slice(from, from + atOnce).map((record) => listed(store, client, record)),
      )),
    );
  }
  return { sweeps, problems };
}

function problemOf(error: unknown, problems: string[]): undefined {
  if (!(error instanceof UsageError)) throw error;
  problems.push(error.message);
}

async function listed(store: Store, client: Client | undefined, record: SweepRecord): Promise<ListedSweep> {
  const planned = record.planned.runs;
  const named = { id: record.id, planned, started: new Date(record.created.at).toISOString() };
  const live = client === undefined ? undefined : await liveState(client, record.id);
  const { id, started } = named;
  if (live !== undefined) {
    const ended = live.ended ?? (await countEnded(store, record));
    return { id, state: live.state, gate: null, planned, ended, started };
  }
  const written = readWritten(await store.readReport(record.id), checkSetOf(record));
  const ended = written?.isWhole ? planned : await countEnded(store, record);
  return { id, state: written?.state ?? 'interrupted', gate: written?.gate ?? null, planned, ended, started };
}

const queryLimitMs = 3_000;

/** What the workflow of a sweep says; without a worker that answers, only that it is open. */
async function liveState(
  client: Client,
  sweep: string,
): Promise<{ readonly state: 'running' | 'paused'; readonly ended?: number } | undefined> {
  if (!(await isRunning(client, sweep))) return undefined;
  try {
    const progress = await client.connection.withDeadline(systemClock.now() + queryLimitMs, () =>
      client.workflow.getHandle(sweep).query<SweepProgress>('progress'),
    );
    return { state: progress.state === 'paused' ? 'paused' : 'running', ended: endedRuns(progress.tally) };
  } catch {
    return { state: 'running' };
  }
}

async function countEnded(store: Store, record: SweepRecord): Promise<number> {
  const runs = await readPlayedRuns(store, record);
  return runs.filter(({ result }) => result !== undefined && result.outcome !== 'unplayed').length;
}

/** What the last report of a sweep's workflow says of how it ended; undefined where the sweep went on since. */
function readWritten(report: Json | undefined, checkSet: number) {
  if (!isJsonObject(report)) return undefined;
  const judgedBy = isJsonObject(report.check_set) ? report.check_set.number : 0;
  if (judgedBy !== checkSet) return undefined;
  const { gate, halted, cancelled, runs } = report;
  const isWhole = isJsonObject(runs) && runs.unplayed === 0;
  const state: ListedState = isJsonObject(halted) ? 'halted' : cancelled === true ? 'cancelled' : 'ended';
  if (state === 'ended' && !isWhole) return undefined;
  return { state, gate: typeof gate === 'string' ? gate : null, isWhole };
}
