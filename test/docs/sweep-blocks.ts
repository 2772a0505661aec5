import { isMap, parseDocument } from 'yaml';
import { sha256 } from '../../adapters/hash.ts';
import { createPrices } from '../../adapters/prices.ts';
import { compileRegex } from '../../adapters/regex.ts';
import { planSweep } from '../../domain/plan.ts';
import { readSweepFile, type SweepFileContent, type SweepFileContext } from '../../formats/sweep-file.ts';
import type { Block } from './markdown.ts';

/** What stands beside a sweep of the docs: one row file, and any module. */
const beside: SweepFileContext = {
  readText: (path) =>
    path.endsWith('.jsonl')
      ? '{"id":"from-a-file","input":{"order":1,"mood":"calm"},"expected":"done"}\n'
      : undefined,
  expandGlob: (pattern) => [pattern.replaceAll('*', 'rows')],
  moduleRef: (file) => ({ file, sha256: 'a'.repeat(64) }),
  compileRegex,
  hash: sha256,
  priceKnown: createPrices().priceKnown,
};

/** The sweep that a fragment's sections are put into. */
const around = `
models:
  gpt:
    model: gpt-4o-mini
    base_url: https://api.openai.com/v1
    api_key: \${OPENAI_API_KEY}
scenarios:
  - id: one
    input: { order: 4471, mood: angry }
    expected: 20 EUR
    tags: [refund]
driver:
  script: [Hello]
target:
  script: { replies: [Hello] }
`;

/**
 * Reads a block as the sweep file that it is, or, marked \`yaml fragment\`, as sections of one. Throws a UsageError
 * with every mistake.
 */
export function loadBlock({ file, line, info, text }: Block): SweepFileContent {
  const source = info === 'fragment' ? withSections(text) : text;
  const content = readSweepFile({ file: `${file}:${line}`, format: 'yaml', text: source }, beside);
  planSweep({ id: 'docs', ...content, priceOf: () => undefined });
  return content;
}

function withSections(fragment: string): string {
  const document = parseDocument(around);
  const sections = parseDocument(fragment);
  if (!isMap(sections.contents)) throw new Error('a fragment must be a map of sections');
  for (const { key, value } of sections.contents.items) {
    if (String(key) === 'targets') document.delete('target');
    document.set(String(key), value);
  }
  return String(document);
}
