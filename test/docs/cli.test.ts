import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import { aShell } from '../cli/test-shell.ts';
import { textOf } from './markdown.ts';

const page = textOf('docs/cli.md');

async function helpOf(...command: readonly string[]): Promise<string> {
  const shell = aShell({ args: [...command, '--help'] });
  assert.equal(await runCli(shell), 0);
  return shell.out();
}

/** The commands that a help text lists, `help` itself aside. */
function commandsIn(help: string): readonly string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
}

/** Every command as it is typed, with its help. */
async function allHelp(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of commandsIn(await helpOf())) {
    const help = await helpOf(name);
    found.set(name, help);
    for (const inner of commandsIn(help)) found.set(`${name} ${inner}`, await helpOf(name, inner));
  }
  return found;
}

function flagsIn(text: string): readonly string[] {
  return [...new Set(text.match(/(?<![\w-])--[a-z][a-z-]+/g) ?? [])];
}

const helps = await allHelp();
const offered = new Set([...helps.values()].flatMap((help) => flagsIn(help.split('Examples:')[0] ?? '')));

test('every command has a heading in docs/cli.md', () => {
  const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, text = '']) => text);
  const missing = [...helps.keys()].filter(
    (name) => !headings.some((heading) => new RegExp(`\`${name}(?: |\`)`).test(heading)) && name !== 'server',
  );
  assert.deepEqual(missing, []);
});

test('every flag of every command is in docs/cli.md', () => {
  const told = flagsIn(page);
  assert.deepEqual(
    [...offered].filter((flag) => !told.includes(flag)),
    ['--version'].filter((flag) => offered.has(flag)),
  );
});

test('docs/cli.md names no flag that no command has', () => {
  const known = new Set([...offered, '--help', '--version']);
  assert.deepEqual(
    flagsIn(page).filter((flag) => !known.has(flag)),
    [],
  );
});

for (const file of ['docs/cli.md', 'README.md']) {
  test(`${file} lists the exit codes that commands end with`, () => {
    const [, table = ''] = /\| exit \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(textOf(file)) ?? [];
    const listed = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    assert.deepEqual(listed, Object.values(exitCodes));
  });
}
