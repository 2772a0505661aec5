import type { Command } from 'commander';

/** Closes a command's help with its examples, from small to real; three of them. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ regatta ${example}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${lines}`);
}
