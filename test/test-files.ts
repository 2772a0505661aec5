import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The checkout's root folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Where tests start Temporal servers, workers or whole sweeps: these files run one at a time, after the others. */
const heavyPlaces = [
  'test/bad-days/',
  'test/cli/sweep',
  'test/cli/temporal-server',
  'test/deploy/image',
  'test/deploy/package',
  'test/deploy/scaling',
  'test/dev-server',
  'test/examples/',
  'test/fleet/',
  'test/observability/proof',
  'test/replay/',
  'test/workflows/',
];

/** Whether a test file needs the machine for itself. */
export function isHeavy(file: string): boolean {
  return heavyPlaces.some((place) => file.startsWith(place));
}

/** Test files by glob patterns, relative to the checkout's root, sorted; without a pattern all of them. */
export function findTestFiles(patterns: readonly string[] = []): readonly string[] {
  const wanted = patterns.length === 0 ? ['test/**/*.test.ts'] : [...patterns];
  return globSync(wanted, { cwd: root }).sort();
}
