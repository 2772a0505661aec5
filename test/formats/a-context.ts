import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SweepFileContext, SweepSource } from '../../formats/sweep-file.ts';

/** What a sweep file refers to: `files` by path; every module but `missing.ts` is there; gpt models have prices. */
export function aContext(files: Readonly<Record<string, string>> = {}): SweepFileContext {
  return {
    readText: (path) => files[path],
    expandGlob: (pattern) => Object.keys(files).filter((file) => file.endsWith(pattern.replace(/^.*\*/, ''))),
    moduleRef: (file) =>
      file === 'missing.ts' ? { message: `there is no module ${file}` } : { file, sha256: 'f'.repeat(64) },
    compileRegex: (pattern, { ignoreCase }) => new RegExp(pattern, ignoreCase ? 'iu' : 'u'),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    priceKnown: ({ model, price }) => price !== undefined || model.startsWith('gpt'),
  };
}

/** A sweep file of the fixtures. */
export function aFixture(name: string): SweepSource {
  const text = readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
  return { file: name, format: 'yaml', text };
}

/** A small sweep that is right, with sections put in place of its own. */
export function aSweep(sections: Readonly<Record<string, string>> = {}): SweepSource {
  const all: Record<string, string> = {
    models: 'models: { gpt: { model: gpt-4o-mini, base_url: "http://localhost/v1" } }',
    scenarios: 'scenarios: [{ id: a, input: { mood: sad } }]',
    driver: 'driver: { model: gpt, prompt: "Be {mood}." }',
    target: 'target: { script: { replies: [Hello] } }',
    ...sections,
  };
  return { file: 'sweep.yaml', format: 'yaml', text: Object.values(all).join('\n') };
}
