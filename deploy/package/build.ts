import { execFileSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** `npm run build`: everything that the published package and the image run, in `dist`. */

const root = new URL('../../', import.meta.url);
const dist = new URL('dist/', root);

await rm(dist, { recursive: true, force: true });
const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
await cp(new URL('formats/schemas/', root), new URL('formats/schemas/', dist), { recursive: true });
// Bundled here and never again: a worker that finds the bundle starts at once and needs no folder to write to.
const { writeWorkflowBundle }: typeof import('../../workers/bundle.ts') = await import(
  new URL('workers/bundle.js', dist).href
);
await writeWorkflowBundle();
