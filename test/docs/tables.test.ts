import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runNumbers } from '../../domain/check.ts';
import { driverSignList } from '../../domain/driver-signs.ts';
import { endingKinds } from '../../domain/ending.ts';
import { outcomes } from '../../domain/outcome.ts';
import { type TemplatePlace, templateVariables } from '../../domain/template-variables.ts';
import { defaults } from '../../formats/defaults.ts';
import { sweepFileSchema } from '../../formats/sweep-file/schema.ts';
import { textOf } from './markdown.ts';

/** The rows of the first table after a mark, each as its cells. */
function tableAfter(file: string, mark: string): readonly (readonly string[])[] {
  const text = textOf(file);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(text.slice(text.indexOf(mark))) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function namesIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

test('the table of template variables is the one that sweep files are checked against', () => {
  const places: readonly TemplatePlace[] = ['driver', 'chat_target', 'http_target', 'check'];
  let before: readonly string[] = [];
  const told = tableAfter('docs/sweep-file.md', '<!-- variables -->').map(([, cell = '']) => {
    before = cell.startsWith('the same') ? [...before, ...namesIn(cell)] : namesIn(cell);
    return before.toSorted();
  });
  assert.deepEqual(
    told,
    places.map((place) => [...templateVariables[place]].sort()),
  );
});

test('every template variable is explained', () => {
  const page = textOf('docs/sweep-file.md');
  const [, table = ''] = page.split('| variable | value |');
  const told = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) =>
    namesIn(cell),
  );
  assert.deepEqual(
    [...new Set(Object.values(templateVariables).flat())].filter((name) => !told.includes(name)),
    [],
  );
});

test('the signs of a driver that left its role are the published list', () => {
  const told = tableAfter('docs/drivers-and-judges.md', '<!-- signs -->').map(([name, means]) => [
    namesIn(name)[0],
    means,
  ]);
  assert.deepEqual(
    told,
    driverSignList.map(({ name, means }) => [name, means]),
  );
});

test('every fault code is in the troubleshooting table and in the table of faults', () => {
  const codes = tableAfter('docs/troubleshooting.md', '<!-- faults -->').map(([cell]) => namesIn(cell)[0]);
  const faults = tableAfter('docs/faults.md', '# Faults').map(([cell]) => namesIn(cell)[0]);
  assert.deepEqual(codes.toSorted(), faults.toSorted());
  assert.ok(codes.length > 0);
});

/** Every key of a sweep file, whatever it stands below; parts of unions and lists included. */
function keysOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties' ? [...Object.keys(value), ...Object.values(value).flatMap(keysOf)] : keysOf(value),
  );
}

test('every key of a sweep file is in its reference or in the pages beside it', () => {
  const told = ['sweep-file', 'targets', 'drivers-and-judges', 'transcripts']
    .map((page) => textOf(`docs/${page}.md`))
    .join('\n');
  const schema = JSON.parse(textOf('formats/schemas/sweep.schema.json')) as unknown;
  const keys = [...new Set(keysOf(schema))];
  assert.ok(keys.length > 50 && sweepFileSchema !== undefined);
  assert.deepEqual(
    keys.filter((key) => !new RegExp(`(?<![\\w-])${key.replace('$', '\\$')}(?!\\w)`).test(told)),
    [],
  );
});

test('the defaults in the reference are those that a sweep file gets', () => {
  const told = ['sweep-file', 'targets', 'transcripts'].map((page) => textOf(`docs/${page}.md`)).join('\n');
  const missing = Object.entries(defaults).filter(([path, value]) => {
    const key =
      path
        .replace(/ \(.*\)$/, '')
        .split('.')
        .at(-1) ?? '';
    const row = new RegExp(`^\\| [^|]*\`(?:\\w+\\.)?${key}\`[^|]* \\|[^\\n]*\`${value}\``, 'm');
    return !row.test(told);
  });
  assert.deepEqual(missing, []);
});

test('outcomes, endings and numbers of a run are named in the docs', () => {
  const told = ['docs/store.md', 'docs/sweep-file.md'].map(textOf).join('\n');
  assert.deepEqual(
    [...outcomes, ...endingKinds, ...runNumbers].filter((word) => !told.includes(`\`${word}\``)),
    [],
  );
});
