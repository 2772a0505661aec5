import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How a command ended. */
export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly limitMs?: number;
};

/** Runs a program to its end, whatever its exit code; rejects where it cannot be started or takes too long. */
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd, env = process.env, limitMs = 120_000 } = options;
  try {
    const done = await promisify(execFile)(file, args, { cwd, env, timeout: limitMs, maxBuffer: 2 ** 27 });
    return { code: 0, ...done };
  } catch (error) {
    if (!isExit(error)) throw error;
    return { code: error.code, stdout: error.stdout, stderr: error.stderr };
  }
}

/** Runs a program and returns what it printed; rejects with its errors where it fails. */
export async function output(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, options);
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
}

function isExit(error: unknown): error is Error & Ran {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'stdout' in error;
}
