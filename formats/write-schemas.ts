// A script of the checkout, not part of the product: it alone in this folder reads and writes files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { publishedSchemas } from './json-schema.ts';

const folder = new URL('./schemas/', import.meta.url);
const isCheck = process.argv.includes('--check');

for (const { file, text } of publishedSchemas()) {
  const url = new URL(file, folder);
  if (!isCheck) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(url, text);
  } else if (published(url) !== text) {
    process.stderr.write(`formats/schemas/${file} is not what the schemas say: run \`npm run schema\`\n`);
    process.exitCode = 1;
  }
}

function published(url: URL): string | undefined {
  try {
    return readFileSync(url, 'utf8');
  } catch {
    return undefined;
  }
}
