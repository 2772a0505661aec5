import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../shell.ts';

/** One process for good: the system gives a pid to other programs later, but not with the same start time. */
export type ProcessId = { readonly pid: number; readonly startTime: string };

/** When a process started, as text to compare; undefined when it is dead or a zombie that nobody collects. */
export function startTimeOf(pid: number, system: System): string | undefined {
  return system.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

/** Whether this very process still lives. */
export function isAlive({ pid, startTime }: ProcessId, system: System): boolean {
  return startTimeOf(pid, system) === startTime;
}

/** The command line of a process, empty when there is none. */
export function commandLineOf(pid: number, system: System): string {
  if (system.platform !== 'linux') return ps(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Ends a process: SIGTERM, and SIGKILL after `graceMs`; returns when it is gone. */
export async function endProcess(id: ProcessId, system: System, graceMs = 10_000): Promise<void> {
  if (!isAlive(id, system)) return;
  system.kill(id.pid, 'SIGTERM');
  if (await isGoneWithin(id, system, graceMs)) return;
  system.kill(id.pid, 'SIGKILL');
  await isGoneWithin(id, system, graceMs);
}

async function isGoneWithin(id: ProcessId, system: System, limitMs: number): Promise<boolean> {
  const stepMs = 25;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    if (!isAlive(id, system)) return true;
    await sleep(stepMs);
  }
  return false;
}

// proc(5): after the name in brackets, which may hold anything, come the state (field 3), the number of threads (20)
// and the start time (22). A killed process is a zombie already while its other threads still hold ports and files.
function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isEnded = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
    return isEnded ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid: number): string | undefined {
  const [, state = '', startTime] = /^\s*(\S+)\s+(.+?)\s*$/.exec(ps(pid, 'state=,lstart=')) ?? [];
  return state.startsWith('Z') ? undefined : startTime;
}

function ps(pid: number, columns: string): string {
  return spawnSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}
