import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Folder, folders, type ImportKind, importsOf, sourceFiles } from './source-files.ts';

type Allowed = Readonly<Partial<Record<ImportKind, readonly string[]>>>;

/** What a folder may import beside itself. A name ending in `*` stands for all that begin so. */
const table: Readonly<Record<Folder, Allowed>> = {
  domain: {},
  formats: { value: ['domain/*', 'zod', 'yaml'] },
  workflows: { value: ['domain/*', '@temporalio/workflow'], type: ['activities/*'] },
  activities: { value: ['domain/*', '@temporalio/activity', '@temporalio/common'] },
  adapters: {
    value: [
      'domain/*',
      'formats/*',
      'node:*',
      '@aws-sdk/client-s3',
      'openai',
      'openai/*',
      'undici',
      're2js',
      '@pydantic/genai-prices',
    ],
    type: ['activities/ports'],
  },
  workers: {
    value: [
      ...['domain/*', 'activities/*', 'adapters/*', 'formats/*', 'node:*'],
      ...['@temporalio/worker', '@temporalio/common', '@temporalio/envconfig', 'pino', 'prom-client'],
    ],
    dynamic: ['@temporalio/worker'],
    type: ['workflows/*'],
  },
  cli: {
    value: [
      ...['domain/*', 'formats/*', 'adapters/*', 'workflows/messages', 'node:*', 'commander'],
      ...['@temporalio/client', '@temporalio/envconfig'],
    ],
    // The embedded fleet and the practice model are loaded by the commands that need them.
    dynamic: ['workers/*', 'practice/*', 'viewer/*', '@temporalio/worker', '@temporalio/testing'],
    // The store that commands read is the store that activities write: one port.
    type: ['workflows/*', 'workers/*', 'practice/*', 'activities/ports'],
  },
  practice: { value: ['domain/*', 'node:*'] },
  sdk: {
    value: ['domain/*', 'formats/*', 'adapters/*', 'workflows/messages', '@temporalio/client', 'node:*'],
    type: ['workflows/*', 'activities/ports'],
  },
  viewer: {
    value: ['domain/*', 'formats/*', 'adapters/*', 'workflows/messages', '@temporalio/client', 'node:*'],
    type: ['workflows/*', 'activities/ports'],
  },
};

/** Files that may do what their folder may not, and why. */
const exceptions: Readonly<Record<string, { readonly may: Allowed; readonly reason: string }>> = {
  'workers/pace-desk.ts': {
    may: { value: ['@temporalio/client'] },
    reason: 'a worker is a client of the workflow that shares out the pace',
  },
  'formats/write-schemas.ts': {
    may: { value: ['node:fs'] },
    reason: 'a script of the checkout that writes the published schemas; nothing imports it',
  },
  'cli/temporal-server/sdk-download.ts': {
    may: { value: ['@temporalio/testing'] },
    reason: 'a program of its own, so that the native code it loads dies with it',
  },
};

describe('imports', () => {
  for (const folder of folders) {
    it(`${folder} imports only what the table allows`, () => {
      const wrong = sourceFiles(folder).flatMap(({ path, text }) =>
        importsOf(path, text)
          .filter(({ kind, of }) => !mayImport(folder, path, kind, of))
          .map(({ kind, of }) => `${path}: ${kind} import of ${of}`),
      );
      assert.deepEqual(wrong, []);
    });
  }

  it('are all seen, whatever their form', () => {
    const text = [
      "import a, { type B } from './b.ts';",
      "import type { C } from '../c/d.ts';",
      "import {\n  type E,\n  f,\n} from 'e';",
      "import 'node:fs';",
      "export { g } from './g.ts';",
      "export type * from './h.ts';",
      "const i = await import('i');",
      "type J = import('j').J; type K = typeof import('k');",
      "// import z from 'z';",
      "/* import y from 'y'; */",
    ].join('\n');
    assert.deepEqual(
      importsOf('x/a.ts', text).map(({ kind, of }) => `${kind} ${of}`),
      [
        'value x/b',
        'type c/d',
        'value e',
        'value x/g',
        'type x/h',
        'value node:fs',
        'dynamic i',
        'type j',
        'type k',
      ],
    );
  });

  it('have no exception that is not needed', () => {
    for (const [path, { may }] of Object.entries(exceptions)) {
      const file = sourceFiles(path.split('/')[0] ?? '').find((source) => source.path === path);
      const used = file === undefined ? [] : importsOf(path, file.text).map(({ of }) => of);
      for (const name of Object.values(may).flat())
        assert.ok(used.includes(name), `${path} does not import ${name}`);
    }
  });
});

/** Who may import a value may import it later, and its types, too. */
function mayImport(folder: Folder, path: string, kind: ImportKind, of: string): boolean {
  const rules = [table[folder], exceptions[path]?.may ?? {}];
  const names = rules.flatMap((rule) => [
    ...(rule.value ?? []),
    ...(kind === 'value' ? [] : (rule[kind] ?? [])),
  ]);
  return [`${folder}/*`, ...names].some((name) =>
    name.endsWith('*') ? of.startsWith(name.slice(0, -1)) : of === name,
  );
}
