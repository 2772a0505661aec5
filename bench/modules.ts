import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { moduleHash } from '../adapters/module-hash.ts';
import { createModules, type ModuleHost } from '../adapters/modules/index.ts';
import type { ModuleRef } from '../domain/sweep-spec.ts';
import { formatReaches, formatTable } from './table.ts';

/** A synchronous call holds its thread so long; others begin every so often meanwhile. */
const busyMs = 2_000;
const everyMs = 20;
const longestStartMs = 200;

const code = `
  export const busy = (ms: number) => {
    for (const until = Date.now() + ms; Date.now() < until; );
  };
  export const began = () => Date.now();
`;

type Scene = {
  readonly what: string;
  /** Sessions that are open; the busy call is one's, the others are of those in turn. None: calls without a session. */
  readonly sessions: number;
  readonly isOtherFile: boolean;
};

const scenes: readonly Scene[] = [
  { what: 'calls of the same module', sessions: 0, isOtherFile: false },
  { what: 'calls of another module', sessions: 0, isOtherFile: true },
  { what: 'eight sessions of the same module', sessions: 8, isOtherFile: false },
];

/** How long other calls wait for their start while one synchronous call holds its thread. */
export async function measureModules(): Promise<string> {
  const measured = [];
  for (const scene of scenes) measured.push({ scene, delays: await playScene(scene) });
  const most = Math.max(...measured.flatMap(({ delays }) => delays));
  return [
    formatTable(
      ['meanwhile', 'calls', 'start after ms, median', 'p99', 'most'],
      measured.map(({ scene, delays }) => [
        scene.what,
        String(delays.length),
        String(at(delays, 0.5)),
        String(at(delays, 0.99)),
        String(at(delays, 1)),
      ]),
    ),
    formatReaches([
      {
        what: `start of others while one module is busy for ${busyMs} ms`,
        limit: `${longestStartMs} ms`,
        value: `${most} ms`,
        reached: most <= longestStartMs,
      },
    ]),
  ].join('\n');
}

async function playScene({ sessions, isOtherFile }: Scene): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'regatta-bench-modules-'));
  const modules = createModules({
    projectFolder: folder,
    hashModule: moduleHash,
    redact: (text) => text,
    log: () => {},
  });
  try {
    const [busy, other] = await Promise.all(
      ['busy.ts', 'other.ts'].map((file) => {
        writeFileSync(join(folder, file), code);
        return moduleHash(folder, file);
      }),
    );
    if (busy === undefined || other === undefined) throw new Error('no modules');
    const seats = await openSessions(modules, busy, sessions);
    await call(modules, isOtherFile ? other : busy, 'began');
    const held = call(modules, busy, 'busy', busyMs, seats[0]);
    const delays: Promise<number>[] = [];
    for (let count = 0; count * everyMs < busyMs; count += 1) {
      const seat = seats.length === 0 ? undefined : seats[1 + (count % (seats.length - 1))];
      delays.push(delayOf(modules, isOtherFile ? other : busy, seat));
      await sleep(everyMs);
    }
    await held;
    return (await Promise.all(delays)).sort((a, b) => a - b);
  } finally {
    await modules.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openSessions(
  modules: ModuleHost,
  module: ModuleRef,
  count: number,
): Promise<readonly number[]> {
  const seats: number[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const answer = await modules.callSeated(module, 'began', null, { ...limits(), session: 'opens' });
    if (answer.kind === 'answer') seats.push(answer.seat);
  }
  return seats;
}

async function delayOf(modules: ModuleHost, module: ModuleRef, seat: number | undefined): Promise<number> {
  const asked = Date.now();
  return (await call(modules, module, 'began', null, seat)) - asked;
}

async function call(
  modules: ModuleHost,
  module: ModuleRef,
  name: string,
  input: number | null = null,
  seat?: number,
): Promise<number> {
  const options = { ...limits(), ...(seat === undefined ? {} : { seat }) };
  const answer = await modules.callSeated(module, name, input, options);
  return answer.kind === 'answer' ? Number(answer.value) : Number.NaN;
}

function limits() {
  return { timeoutMs: 60_000, signal: new AbortController().signal, blame: 'target' } as const;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
