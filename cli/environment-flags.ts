import type { Command, Option } from 'commander';
import { UsageError } from '../domain/usage-error.ts';
import type { Environment } from './shell.ts';

/**
 * Gives every flag of a command and its subcommands the value of its `REGATTA_<FLAG>` variable; a flag beats it.
 * Commander's own `.env()` reads the process and takes `REGATTA_JSON=0` for yes.
 */
export function applyEnvironment(command: Command, env: Environment): void {
  for (const option of command.options) {
    const value = env[environmentName(option)];
    if (value === undefined || value === '' || option.name() === 'version') continue;
    applyOption(command, option, value);
  }
  for (const subcommand of command.commands) applyEnvironment(subcommand, env);
}

/** `--pace-share` is `REGATTA_PACE_SHARE`. */
export function environmentName(option: Option): string {
  const flag = (option.long ?? '').replace(/^--/, '');
  return `REGATTA_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function applyOption(command: Command, option: Option, text: string): void {
  const isSwitch = option.isBoolean() || option.negate;
  if (isSwitch && !isYes(text)) return;
  const value = isSwitch ? !option.negate : parseValue(option, text);
  command.setOptionValueWithSource(option.attributeName(), value, 'env');
}

/** Whether a variable turns a switch on: set, not empty, and none of 0, false, no, off. */
export function isYes(text: string | undefined): boolean {
  return text !== undefined && !['', '0', 'false', 'no', 'off'].includes(text.toLowerCase());
}

function parseValue(option: Option, text: string): unknown {
  const texts = option.variadic ? text.split(',') : [text];
  try {
    if (option.parseArg === undefined) return option.variadic ? texts : text;
    let value: unknown;
    for (const each of texts) value = option.parseArg(each, value);
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError({ message: `${environmentName(option)}=${text}: ${reason}` });
  }
}
