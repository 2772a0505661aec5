// A worker process for tests: settings as JSON in the first argument.
import process from 'node:process';
import { processShell } from '../../cli/shell.ts';
import { describeMistake, UsageError } from '../../domain/usage-error.ts';
import { runWorkerProcess } from '../../workers/main.ts';

const [, , config = '{}', cacheFolder = ''] = process.argv;
try {
  process.exit(await runWorkerProcess(JSON.parse(config), { ...processShell(), version: '1', cacheFolder }));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.mistakes.map(describeMistake).join('\n')}\n`);
  process.exit(2);
}
