import { Command, CommanderError } from 'commander';
import { UsageError } from '../domain/usage-error.ts';
import { registerControl } from './commands/control.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerEvaluate } from './commands/evaluate.ts';
import { registerInit } from './commands/init.ts';
import { registerList } from './commands/list.ts';
import { registerPlan } from './commands/plan.ts';
import { registerPracticeModel } from './commands/practice-model.ts';
import { registerPrune } from './commands/prune.ts';
import { registerRejudge } from './commands/rejudge.ts';
import { registerReport } from './commands/report.ts';
import { registerResume, registerRetry } from './commands/resume.ts';
import { registerRun } from './commands/run.ts';
import { registerScenarios } from './commands/scenarios.ts';
import { registerServer } from './commands/server.ts';
import { registerShow } from './commands/show.ts';
import { registerAttend, registerStart } from './commands/start.ts';
import { registerTarget } from './commands/target.ts';
import { registerValidate } from './commands/validate.ts';
import { registerWatch } from './commands/watch.ts';
import { registerWorker } from './commands/worker.ts';
import { applyEnvironment, isYes } from './environment-flags.ts';
import { describeFailure, exitCodes } from './exit-codes.ts';
import { addExamples } from './help.ts';
import type { Shell } from './shell.ts';
import { regattaVersion } from './version.ts';

type Register = (program: Command, shell: Shell) => void;

// In the order of the help. These imports are light: what a command needs besides commander, its action imports.
const commands: readonly Register[] = [
  registerInit,
  registerValidate,
  registerPlan,
  registerTarget,
  registerRun,
  registerStart,
  registerWatch,
  registerResume,
  registerRetry,
  registerRejudge,
  registerEvaluate,
  registerControl,
  registerList,
  registerShow,
  registerReport,
  registerScenarios,
  registerPrune,
  registerWorker,
  registerServer,
  registerPracticeModel,
  registerDoctor,
  registerAttend,
];

/** Runs one command and returns its exit code; a failure is told on stderr and, with --json, as one object on stdout. */
export async function runCli(shell: Shell): Promise<number> {
  try {
    const program = createProgram(shell);
    applyEnvironment(program, shell.env);
    await program.parseAsync([...shell.args], { from: 'user' });
    return shell.exitCode;
  } catch (error) {
    return error instanceof CommanderError ? endParsing(error, shell) : tellFailure(error, shell);
  }
}

function createProgram(shell: Shell): Command {
  const program = new Command('regatta')
    .description('Sails simulated conversations at an AI agent and answers: may it ship?')
    .version(regattaVersion())
    .configureHelp({ helpWidth: 80 })
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
      outputError: () => {},
    })
    .exitOverride();
  for (const register of commands) register(program, shell);
  program.addHelpText('after', '\nEvery flag can also be set as REGATTA_<FLAG>; a flag beats it.');
  return addExamples(program, ['init', 'run sweep.yaml', 'run sweep.yaml --id "$CI_JOB_ID" --junit out.xml']);
}

function endParsing(error: CommanderError, shell: Shell): number {
  if (error.exitCode === 0) return exitCodes.done;
  // Help that was shown because a command's name is missing has said everything.
  if (error.code === 'commander.help') return exitCodes.usage;
  const [message = '', ...suggestion] = error.message.replace(/^error: /, '').split('\n');
  const hint = suggestion.join(' ').replace(/^\((.*)\)$/, '$1');
  return tellFailure(new UsageError(hint === '' ? { message } : { message, hint }), shell);
}

function tellFailure(error: unknown, shell: Shell): number {
  const { kind, message, hint, exitCode } = describeFailure(error);
  // A usage error's hints stand with their mistakes already.
  shell.stderr.write(`${message}\n${hint !== '' && kind !== 'usage' ? `${hint}\n` : ''}`);
  if (wantsJson(shell)) shell.stdout.write(`${JSON.stringify({ error: { kind, message, hint } })}\n`);
  return exitCode;
}

function wantsJson(shell: Shell): boolean {
  return (
    shell.args.some((arg) => arg === '--json' || arg.startsWith('--json=')) || isYes(shell.env.REGATTA_JSON)
  );
}
