import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { registerWorker } from '../../cli/commands/worker.ts';
import { applyEnvironment } from '../../cli/environment-flags.ts';
import { UsageError } from '../../domain/usage-error.ts';
import { workerDefaults } from '../../workers/config.ts';
import { aShell } from '../cli/test-shell.ts';

function aProgram(args: readonly string[] = [], env = {}) {
  const shell = aShell({ args, env });
  const program = new Command('regatta').configureHelp({ helpWidth: 80 }).exitOverride();
  registerWorker(program, shell);
  applyEnvironment(program, env);
  const help = program.commands[0]?.configureHelp({ helpWidth: 80 }).helpInformation() ?? '';
  return { help, run: () => program.parseAsync(['worker', ...args], { from: 'user' }) };
}

describe('regatta worker', () => {
  it('shows each flag with the default that it has, in 80 columns', () => {
    const help = aProgram().help.replaceAll(/\s+/g, ' ');
    const { allowHost: _, ...shown } = workerDefaults;
    for (const value of Object.values(shown).flat()) assert.ok(help.includes(`(default: ${value})`), value);
    assert.deepEqual(
      aProgram()
        .help.split('\n')
        .filter((line) => line.length > 80),
      [],
    );
  });

  it('does not show the flag by which a sweep starts its own worker', () => {});

  it('refuses bad flags and variables together, before it starts anything', async () => {
    const { run } = aProgram(['--slots', 'many', '--role', 'driver'], { REGATTA_PACE_SHARE: '3' });
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /^--role.*\n--slots.*\n--pace-share.*$/);
      return true;
    });
  });
});
