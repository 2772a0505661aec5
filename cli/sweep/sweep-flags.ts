import { type Command, InvalidArgumentError } from 'commander';
import type { Overrides } from '../../formats/overrides.ts';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { addText, decimalNumber, wholeNumber } from '../flag-values.ts';

/** Flags of every command that reads a sweep file. */
export type SelectionFlags = {
  readonly only?: string;
  readonly tag?: readonly string[];
  readonly excludeTag?: readonly string[];
  readonly limit?: number;
  readonly repeats?: number;
  readonly concurrency?: number;
  readonly budget?: number;
  readonly set?: readonly string[];
  readonly target?: string;
  readonly judgeModel?: string;
  readonly allowEmpty?: boolean;
  readonly bulk?: boolean;
  readonly project?: string;
};

export type PlaceFlags = { readonly store?: string };

/** Flags of the commands that play a sweep. */
export type PlayFlags = SelectionFlags &
  PlaceFlags &
  ConnectionFlags & {
    readonly id?: string;
    readonly queue?: string;
    readonly ui?: boolean;
    readonly verbose?: boolean;
    readonly allowHost?: readonly string[];
  };

/** Adds the flags that pick and change what a sweep file says. */
export function addSelectionFlags(command: Command): Command {
  return command
    .option('--only <glob>', 'play only scenarios whose id fits')
    .option('--tag <tag>', 'only scenarios with this tag; repeatable', addText)
    .option('--exclude-tag <tag>', 'no scenarios with this tag; repeatable', addText)
    .option('--limit <n>', 'only the first so many scenarios', positiveNumber)
    .option('--repeats <n>', 'play each scenario so often', positiveNumber)
    .option('--concurrency <n>', 'how many runs are open at once', positiveNumber)
    .option('--budget <usd>', 'what the sweep may cost (budget_usd)', decimalNumber)
    .option('--set <path=value>', 'change a value of the file; repeatable', addText)
    .option('--target <file|url>', 'play against this target instead')
    .option('--judge-model <name>', 'an entry of models that answers every judge')
    .option('--bulk', 'play runs inside their shard (default above 500 runs)')
    .option('--no-bulk', 'play each run as a workflow of its own')
    .option('--allow-empty', 'a sweep of no runs is fine')
    .option('--project <folder>', 'folder that modules come from');
}

/** Adds `--store`. */
export function addStoreFlag(command: Command): Command {
  return command.option('--store <place>', 'a folder or s3://BUCKET/PREFIX (default: .regatta/sweeps)');
}

/** Adds all flags of the commands that play a sweep. */
export function addPlayFlags(command: Command): Command {
  addSelectionFlags(command);
  addStoreFlag(command);
  addConnectionFlags(command);
  return command
    .option('--id <id>', 'id of the sweep; the same id again attaches to it')
    .option('--queue <name>', 'task queue that the fleet polls')
    .option('--ui', "serve Temporal's own web page too")
    .option('--allow-host <host>', 'models and targets may be only at these hosts; repeatable', addText)
    .option('--verbose', 'say more');
}

/** What the flags change in the file. */
export function overridesOf(flags: SelectionFlags): Overrides {
  const {
    only,
    tag,
    excludeTag,
    limit,
    repeats,
    concurrency,
    budget,
    set = [],
    target,
    judgeModel,
    allowEmpty,
  } = flags;
  const edits = budget === undefined ? set : [...set, `budget_usd=${budget}`];
  return {
    set: edits,
    ...(only === undefined ? {} : { only }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(excludeTag === undefined ? {} : { excludeTags: excludeTag }),
    ...(limit === undefined ? {} : { limit }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(target === undefined ? {} : { target }),
    ...(judgeModel === undefined ? {} : { judgeModel }),
    ...(allowEmpty === undefined ? {} : { allowEmpty }),
  };
}

/** A flag's value as a whole number from 1. */
export function positiveNumber(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('A whole number from 1 is needed.');
  return number;
}
