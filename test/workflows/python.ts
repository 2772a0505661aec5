import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../adapters/hash.ts';

/** Why Python targets cannot be tried on this machine; undefined where they can. */
export function lackOfPython(): string | undefined {
  const { status } = spawnSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'there is no python3 with venv';
}

/** A Python with the packages of a requirements file, made once a machine and content. */
export function pythonWith(requirements: string): string {
  const text = readFileSync(requirements, 'utf8');
  const folder = join(tmpdir(), `regatta-python-${sha256(text).slice(0, 12)}`);
  const python = join(folder, 'bin/python');
  if (existsSync(python)) return python;
  // Made aside: one that was left half made would be taken for whole.
  const aside = `${folder}-${process.pid}`;
  rmSync(aside, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', aside], { stdio: 'ignore' });
  execFileSync(join(aside, 'bin/python'), ['-m', 'pip', 'install', '-q', '-r', requirements], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 240_000,
  });
  try {
    renameSync(aside, folder);
  } catch {
    // Another test made it meanwhile.
    rmSync(aside, { recursive: true, force: true });
  }
  return python;
}
