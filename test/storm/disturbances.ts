import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../fleet/fleet.ts';
import type { WorkerProcess } from '../fleet/worker-process.ts';
import type { SmallDisk } from './small-disk.ts';
import type { Gust } from './weather.ts';

/** A gust as it really came: whom it hit, and when (epoch milliseconds). */
export type Disturbance = {
  readonly kind: Gust['kind'];
  /** Absent where all workers were hit. */
  readonly worker?: string;
  readonly from: number;
  readonly to: number;
  /** How a worker that was to drain has gone: 0 is right. */
  readonly exit?: number | string;
};

type Member = { readonly name: string; readonly process: WorkerProcess; isWell: boolean };

/** The workers of a storm, who are replaced when they are lost. */
export type Crew = {
  join(): Promise<void>;
  /** Lets one gust do its harm; resolves when what it hit is well again, or replaced. Undefined where it found nobody. */
  suffer(gust: Gust, signal: AbortSignal): Promise<Disturbance | undefined>;
  /** All that its workers have logged, by worker. */
  logs(): ReadonlyMap<string, readonly string[]>;
};

/** What a worker gets on its command line. */
export type Joining = { readonly flags: readonly string[]; readonly nameVariable: string };

/** How often a full disk is filled up again. */
const topUpEveryMs = 100;

export function createCrew(fleet: Fleet, disk: SmallDisk | undefined, joining: Joining): Crew {
  const members: Member[] = [];
  let joined = 0;

  async function join(): Promise<void> {
    joined += 1;
    const name = `w${joined}`;
    const process = await fleet.addWorker(joining.flags, { [joining.nameVariable]: name });
    members.push({ name, process, isWell: true });
  }

  /** Takes one of those that are well out of their number. */
  function pick(whom: number): Member | undefined {
    const well = members.filter(({ isWell }) => isWell);
    const picked = well[Math.floor(whom * well.length)];
    if (picked !== undefined) picked.isWell = false;
    return picked;
  }

  async function kill({ name, process }: Member): Promise<Disturbance> {
    const from = Date.now();
    process.kill('SIGKILL');
    await process.gone;
    const to = Date.now();
    await join();
    return { kind: 'kill', worker: name, from, to };
  }

  async function drain({ name, process }: Member): Promise<Disturbance> {
    const from = Date.now();
    process.kill('SIGTERM');
    const [exit] = await Promise.all([process.gone, join()]);
    return { kind: 'drain', worker: name, from, to: Date.now(), exit };
  }

  async function freeze(member: Member, forMs: number, signal: AbortSignal): Promise<Disturbance> {
    const from = Date.now();
    member.process.kill('SIGSTOP');
    try {
      await sleep(forMs, undefined, { signal });
    } finally {
      member.process.kill('SIGCONT');
    }
    member.isWell = true;
    return { kind: 'freeze', worker: member.name, from, to: Date.now() };
  }

  async function crash(forMs: number, signal: AbortSignal): Promise<Disturbance> {
    const from = Date.now();
    await fleet.server.kill('SIGKILL');
    await sleep(forMs, undefined, { signal });
    await fleet.server.restart();
    return { kind: 'server', from, to: Date.now() };
  }

  async function fill(full: SmallDisk, forMs: number, signal: AbortSignal): Promise<Disturbance> {
    const from = Date.now();
    try {
      for (; Date.now() < from + forMs; await sleep(topUpEveryMs, undefined, { signal })) full.fill();
    } finally {
      full.free();
    }
    return { kind: 'disk', from, to: Date.now() };
  }

  /** There is one server and one disk: what hits them waits for what hit them before. */
  const queues = { server: Promise.resolve<unknown>(undefined), disk: Promise.resolve<unknown>(undefined) };
  function inTurn<T>(name: keyof typeof queues, work: () => Promise<T>): Promise<T> {
    const done = queues[name].then(work);
    queues[name] = done.catch(() => {});
    return done;
  }

  return {
    join,
    async suffer({ kind, forMs, whom }, signal) {
      switch (kind) {
        case 'server':
          return inTurn('server', () => crash(forMs, signal));
        case 'disk':
          return disk && inTurn('disk', () => fill(disk, forMs, signal));
        case 'kill':
        case 'drain':
        case 'freeze': {
          const member = pick(whom);
          if (member === undefined) return undefined;
          if (kind === 'freeze') return freeze(member, forMs, signal);
          return kind === 'kill' ? kill(member) : drain(member);
        }
      }
    },
    logs: () => new Map(members.map(({ name, process }) => [name, process.log()])),
  };
}
