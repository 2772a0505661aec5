import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cleanEnv, regatta } from './measure.ts';

/** What a command took that plays nothing. */
export type Peak = { readonly wallSeconds: number; readonly peakRssMiB: number };

/** Runs a command of regatta in a folder, and notes the most memory that it held. Throws on other exit codes than those of gates. */
export async function peakOfCommand(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Peak> {
  const startedAt = performance.now();
  const child = spawn(regatta, args, { cwd: folder, env: { ...cleanEnv(), ...env }, stdio: 'ignore' });
  let peakRssMiB = 0;
  const timer = setInterval(() => {
    peakRssMiB = Math.max(peakRssMiB, peakOf(child.pid ?? 0));
  }, 20);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (code !== 0 && code !== 3) throw new Error(`regatta ${args.join(' ')}: exit code ${code}`);
  return { wallSeconds: (performance.now() - startedAt) / 1000, peakRssMiB };
}

/** The most that a process has held since it began, as the kernel noted it; 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    const [, kib = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1024;
  } catch {
    return 0;
  }
}
