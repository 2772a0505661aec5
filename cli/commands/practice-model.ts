import type { Command } from 'commander';
import type { Role } from '../../domain/usage.ts';
import { type Mistake, UsageError } from '../../domain/usage-error.ts';
import type { FaultKind, Faults } from '../../practice/faults.ts';
import type { Inability, PracticeOptions } from '../../practice/options.ts';
import { addText, decimalNumber, wholeNumber } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

type Flags = {
  readonly port: number;
  readonly host: string;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly seed: number;
  readonly fault?: readonly string[];
  readonly retryAfterS?: number;
  readonly hangEvery?: number;
  readonly slowBodyMs?: number;
  readonly afterCalls?: number;
  readonly faultRole?: readonly string[];
  readonly refuse?: readonly string[];
  readonly apiKey?: string;
  readonly model?: readonly string[];
  readonly json?: true;
};

/** `regatta practice-model`: the practice model server, until Ctrl-C. */
export function registerPracticeModel(program: Command, shell: Shell): void {
  const command = program
    .command('practice-model')
    .description('Serves an OpenAI-compatible model that follows rules and fails on request.')
    .option('--port <n>', '0 takes any free port', wholeNumber, 0)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--latency-ms <ms>', 'time to an answer', wholeNumber, 200)
    .option('--jitter-ms <ms>', 'up to this much more', wholeNumber, 0)
    .option('--seed <n>', 'of answers, jitter and faults', wholeNumber, 0)
    .option('--fault <kind=share>', 'hit this share (0 to 1) of the calls; repeatable', addText)
    .option('--retry-after-s <s>', 'what a 429 asks for (default: 1)', decimalNumber)
    .option('--hang-every <n>', 'every n-th call hangs', wholeNumber)
    .option('--slow-body-ms <ms>', 'how long a slow body takes (default: 1000)', wholeNumber)
    .option('--after-calls <n>', 'faults begin after so many calls (default: 0)', wholeNumber)
    .option('--fault-role <role>', 'only driver, target or judge calls fail; repeatable', addText)
    .option('--refuse <what>', 'answer 400 to this parameter; repeatable', addText)
    .option('--api-key <key>', 'answer 401 without this key')
    .option('--model <name>', 'answer 404 to any other name; repeatable', addText)
    .option('--json', 'print address and port as one object')
    .action((flags: Flags) => serve(flags, shell));
  addExamples(command, [
    'practice-model',
    'practice-model --port 8099 --fault rate429=0.3 --retry-after-s 2',
    'practice-model --latency-ms 800 --jitter-ms 400 --hang-every 50',
  ]);
}

async function serve(flags: Flags, shell: Shell): Promise<void> {
  const { startPracticeModel } = await import('../../practice/server.ts');
  const model = await startPracticeModel(await readOptions(flags)).catch(portAsUsage);
  const stopped = new Promise<void>((resolve) => {
    shell.onSignal(['SIGINT', 'SIGTERM'], () => resolve());
  });
  shell.stdout.write(
    flags.json ? `${JSON.stringify({ url: model.url, port: model.port })}\n` : `${model.url}\n`,
  );
  await stopped;
  await model.close();
}

async function readOptions(flags: Flags): Promise<PracticeOptions> {
  const { inabilities } = await import('../../practice/options.ts');
  const { port, host, latencyMs, jitterMs, seed, apiKey, model } = flags;
  const mistakes: Mistake[] = [];
  const refuses = chooseFrom<Inability>('--refuse', flags.refuse, inabilities, mistakes);
  const faults = await readFaults(flags, mistakes);
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return {
    ...{ port, host, latencyMs, jitterMs, seed, faults, refuses },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(model === undefined ? {} : { models: model }),
  };
}

const roles: readonly Role[] = ['driver', 'target', 'judge'];

async function readFaults(flags: Flags, mistakes: Mistake[]): Promise<Faults> {
  const { faultKinds, proveFaults } = await import('../../practice/faults.ts');
  const pairs = (flags.fault ?? []).map((text) => text.split('=') as [string, string | undefined]);
  chooseFrom<FaultKind>(
    '--fault',
    pairs.map(([kind]) => kind),
    faultKinds,
    mistakes,
  );
  const faultRoles = chooseFrom<Role>('--fault-role', flags.faultRole, roles, mistakes);
  const { retryAfterS, hangEvery, slowBodyMs, afterCalls } = flags;
  const faults: Faults = {
    ...Object.fromEntries(pairs.map(([kind, share]) => [kind, Number(share)])),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
    ...(hangEvery === undefined ? {} : { hangEvery }),
    ...(slowBodyMs === undefined ? {} : { slowBodyMs }),
    ...(afterCalls === undefined ? {} : { afterCalls }),
    ...(faultRoles.length === 0 ? {} : { roles: faultRoles }),
  };
  try {
    proveFaults(faults);
  } catch (error) {
    mistakes.push({ message: `--fault: ${error instanceof Error ? error.message : String(error)}` });
  }
  return faults;
}

function chooseFrom<Word extends string>(
  flag: string,
  given: readonly string[] = [],
  words: readonly Word[],
  mistakes: Mistake[],
): readonly Word[] {
  for (const each of given) {
    if (words.some((word) => word === each)) continue;
    mistakes.push({ message: `${flag}: unknown word ${each}`, hint: `one of ${words.join(', ')}` });
  }
  return words.filter((word) => given.includes(word));
}

function portAsUsage(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    throw new UsageError({ message: error.message, hint: 'choose another --port, or 0 for any' });
  }
  throw error;
}
