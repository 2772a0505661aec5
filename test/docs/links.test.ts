import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, pages, proseOf, root, targetOfLink, textOf } from './markdown.ts';

for (const page of pages()) {
  test(`${page}: every link inside the project leads somewhere`, () => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links
      .filter((link) => !/^[a-z]+:/i.test(link))
      .filter((link) => {
        const { path, anchor } = targetOfLink(page, link);
        if (!existsSync(join(root, path))) return true;
        return anchor !== '' && !anchorsOf(path).includes(anchor);
      });
    assert.deepEqual(broken, []);
  });
}

test('every guide can be reached from the README', () => {
  const readme = textOf('README.md');
  const guides = pages().filter((page) => /^docs\/[^/]+\.md$/.test(page));
  assert.deepEqual(
    guides.filter((page) => !readme.includes(`(${page})`)),
    [],
  );
});
