import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { root } from '../test-files.ts';
import { folders, type SourceFile, sourceFiles } from './source-files.ts';

/** Time, randomness, environment and output are arguments; these places hand them in. */
const handsThemIn = ['cli/main.ts', 'cli/shell.ts', 'practice/', 'workers/', 'adapters/'];
const ambient = [
  /\bprocess\s*[.[]/,
  /\bconsole\s*\./,
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bMath\.random\b/,
  /\bperformance\.now\b/,
];

/** Files that use them nevertheless, and why. */
const ambientReasons: Readonly<Record<string, string>> = {
  'workflows/pace.ts': 'within a workflow it is the time of the task, also when it is replayed',
  'workflows/target-queue.ts': 'within a workflow it is the time of the task, also when it is replayed',
  'formats/write-schemas.ts': 'a script of the checkout; nothing imports it',
  'cli/temporal-server/sdk-download.ts': 'a program of its own: its arguments are the only way in',
};

/** Lines of a file; tests may be longer, as a table or a contract is one thing. */
const longest = { product: 300, tests: 500 };
/** Longer files, and why they are not two. */
const longReasons: Readonly<Record<string, string>> = {};

const all = folders.flatMap(sourceFiles);

describe('sources', () => {
  it('take time, randomness, environment and output as arguments', () => {
    const wrong = all
      .filter(({ path }) => !handsThemIn.some((place) => path.startsWith(place)) && !(path in ambientReasons))
      .flatMap(ambientUses);
    assert.deepEqual(wrong, []);
  });

  it('are short enough to be read at once', () => {
    const tooLong = (files: readonly SourceFile[], limit: number) =>
      files
        .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
        .filter(({ path, lines }) => lines > limit && !(path in longReasons))
        .map(({ path, lines }) => `${path}: ${lines} lines, more than ${limit}`);
    const tests = ['test', 'bench', 'examples'].flatMap(sourceFiles);
    assert.deepEqual([...tooLong(all, longest.product), ...tooLong(tests, longest.tests)], []);
  });

  it('lie in no folder without a noun of its own', () => {
    const nameless = globSync('**/{utils,util,lib,common,types,helpers}/', {
      cwd: root,
      exclude: (path) => /^(node_modules|\.git|\.regatta|dist)$/.test(path.split('/')[0] ?? ''),
    });
    assert.deepEqual(nameless, []);
  });

  it('have no exception that is not needed', () => {
    const uses = (path: string) => all.filter((file) => file.path === path).flatMap(ambientUses);
    for (const path of Object.keys(ambientReasons)) assert.notDeepEqual(uses(path), [], path);
  });
});

function ambientUses({ path, code }: SourceFile): readonly string[] {
  return code
    .split('\n')
    .flatMap((line, index) =>
      ambient.some((use) => use.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );
}
