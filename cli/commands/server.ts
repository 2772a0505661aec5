import type { Command } from 'commander';
import { CommandFailure } from '../exit-codes.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

/** `regatta server`: the Temporal server that local runs share, started and stopped by hand. */
export function registerServer(program: Command, shell: Shell): void {
  const server = program
    .command('server')
    .description('Keeps, stops or shows the Temporal server of this folder.');
  registerStart(server, shell);
  registerStop(server, shell);
  registerStatus(server, shell);
  addExamples(server, ['server start', 'server status --json', 'server stop']);
}

function registerStart(server: Command, shell: Shell): void {
  const start = server
    .command('start')
    .description('Starts the server and keeps it between runs.')
    .option('--ui', "also serve Temporal's own web page")
    .option('--json', 'print the server as one object')
    .action(async ({ ui, json }: { ui?: true; json?: true }) => {
      const { startKeptServer } = await import('../temporal-server/index.ts');
      const info = await startKeptServer({ shell, ui: ui ?? false });
      shell.stdout.write(json ? `${JSON.stringify(info)}\n` : `${info.address}\n`);
    });
  addExamples(start, ['server start', 'server start --ui', 'server start --json']);
}

function registerStop(server: Command, shell: Shell): void {
  const stop = server
    .command('stop')
    .description('Stops the server, whoever began it; nothing that ran on it is lost.')
    .option('--json', 'print what was done as one object')
    .action(async ({ json }: { json?: true }) => {
      const { stopServer } = await import('../temporal-server/index.ts');
      const { ran, users } = await stopServer({ shell });
      shell.stderr.write(ran ? 'Temporal server stopped\n' : 'No Temporal server runs for this folder\n');
      if (users > 0) shell.stderr.write(`${users} local run(s) wait until: regatta server start\n`);
      if (json) shell.stdout.write(`${JSON.stringify({ stopped: ran, waiting_runs: users })}\n`);
    });
  addExamples(stop, ['server stop', 'server stop --json', 'server stop && regatta server start --ui']);
}

function registerStatus(server: Command, shell: Shell): void {
  const status = server
    .command('status')
    .description('Shows the server of this folder; exit 5 when none answers.')
    .option('--json', 'print it as one object')
    .action(async ({ json }: { json?: true }) => {
      const { serverStatus } = await import('../temporal-server/index.ts');
      const info = await serverStatus({ shell });
      if (info === undefined) {
        throw new CommandFailure(
          'unreachable',
          'no Temporal server runs for this folder',
          'regatta server start',
        );
      }
      const lines = Object.entries(info).map(([name, value]) => `${name.padEnd(9)}${value}\n`);
      shell.stdout.write(json ? `${JSON.stringify(info)}\n` : lines.join(''));
    });
  addExamples(status, ['server status', 'server status --json', 'server status --json | jq -r .address']);
}
