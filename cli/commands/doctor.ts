import type { Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import type { Finding } from '../doctor/finding.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

type Flags = PlaceFlags & ConnectionFlags & { readonly json?: true };

/** `regatta doctor [FILE]`: what is in order, what is not, and what to do about it. */
export function registerDoctor(program: Command, shell: Shell): void {
  const command = program
    .command('doctor [file]')
    .description('Looks at Node, Temporal, the store and a sweep file; says what to do.')
    .option('--json', 'print the findings as one object')
    .action((file: string | undefined, flags: Flags) => examine(shell, file, flags));
  addStoreFlag(addConnectionFlags(command));
  addExamples(command, [
    'doctor',
    'doctor sweep.yaml',
    'doctor sweep.yaml --address temporal.internal:7233 --json',
  ]);
}

async function examine(shell: Shell, file: string | undefined, flags: Flags): Promise<void> {
  const [{ checkNode, checkStore, checkTemporal }, { exitOf }, { storeOf }] = await Promise.all([
    import('../doctor/machine.ts'),
    import('../doctor/finding.ts'),
    import('../sweep/play.ts'),
  ]);
  const [temporal, store, sweep] = await Promise.all([
    checkTemporal(shell, flags),
    checkStore(storeOf(shell, flags)),
    file === undefined ? [] : checkFile(shell, file),
  ]);
  const findings = [checkNode(shell), ...temporal, store, ...sweep];
  shell.stdout.write(flags.json ? `${JSON.stringify(jsonOf(findings))}\n` : await linesOf(shell, findings));
  shell.exitCode = exitOf(findings);
}

async function checkFile(shell: Shell, file: string): Promise<readonly Finding[]> {
  const { checkSweepFile } = await import('../doctor/sweep-file.ts');
  return checkSweepFile(shell, file);
}

function jsonOf(findings: readonly Finding[]): object {
  return {
    checks: findings.map(({ check, status, message, hint }) => ({
      check,
      status,
      message,
      hint: hint ?? '',
    })),
  };
}

async function linesOf(shell: Shell, findings: readonly Finding[]): Promise<string> {
  const [{ createStyle, paintWord }, { safeText }] = await Promise.all([
    import('../render/style.ts'),
    import('../render/text.ts'),
  ]);
  const style = createStyle(shell);
  return findings
    .map(({ check, status, message, hint }) => {
      const lines = safeText(hint === undefined ? message : `${message}\n${hint}`).split('\n');
      const rest = lines.slice(1).map((line) => `\n${' '.repeat(16)}${line}`);
      return `${paintWord(style, status)}${' '.repeat(6 - status.length)}${check.padEnd(10)}${lines[0]}${rest.join('')}\n`;
    })
    .join('');
}
