import { readdirSync, readFileSync } from 'node:fs';

/** One process as `/proc` shows it. */
export type ProcessState = {
  readonly pid: number;
  readonly parent: number;
  /** Its own user and system time, in seconds. */
  readonly cpuSeconds: number;
  readonly rssMiB: number;
};

/** Linux counts CPU time for `/proc` in hundredths of a second, whatever the kernel's own clock. */
const ticksPerSecond = 100;
const pageMiB = 4 / 1024;

/** All processes there are. */
export function listProcesses(): readonly ProcessState[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (stateOf(Number(name)) ?? []) : []));
}

/** Empty once it has ended. */
export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '';
}

/** A process and all that it has started, at any depth. */
export function treeOf(root: number, all: readonly ProcessState[]): readonly ProcessState[] {
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

function stateOf(pid: number): ProcessState | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name, in brackets, may hold blanks and brackets.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const ticks = fields.slice(11, 13).reduce((sum, count) => sum + count, 0);
  return { pid, parent, cpuSeconds: ticks / ticksPerSecond, rssMiB: (fields[21] ?? 0) * pageMiB };
}

/** Undefined where the process has ended. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
