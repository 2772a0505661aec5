import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A code block of a page; `info` is what stands behind its language. */
export type Block = {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly info: string;
  readonly text: string;
};

/** The pages for users: the README and all Markdown below docs/, by path from the checkout. */
export function pages(): readonly string[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', ...below.sort()];
}

/** The text of a file of the checkout. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The code blocks of a page, in order. */
export function blocksOf(file: string): readonly Block[] {
  const text = textOf(file);
  return [...text.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = '', info = '', inner = ''] = match;
    return { file, line: text.slice(0, match.index).split('\n').length, language, info, text: inner };
  });
}

/** A page without its code blocks and code spans. */
export function proseOf(file: string): string {
  return textOf(file)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '');
}

/** The anchors of a page's headings, as web hosts make them. */
export function anchorsOf(file: string): readonly string[] {
  return [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

/** A link's file, by path from the checkout, and its anchor. */
export function targetOfLink(file: string, link: string): { readonly path: string; readonly anchor: string } {
  const [path = '', anchor = ''] = link.split('#');
  return { path: path === '' ? file : relative(root, join(root, dirname(file), path)), anchor };
}
