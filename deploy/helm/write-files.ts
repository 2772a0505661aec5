import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

// `node deploy/helm/write-files.ts`: copies rules and dashboards into the chart, which can read only its own folder.

const files = new URL('./regatta/files/', import.meta.url);
const sources: Readonly<Record<string, URL>> = {
  'regatta.rules.yaml': new URL('../prometheus/regatta.rules.yaml', import.meta.url),
  ...Object.fromEntries(
    ['sweeps', 'models', 'fleet'].map((name) => [
      `dashboards/${name}.json`,
      new URL(`../grafana/dashboards/${name}.json`, import.meta.url),
    ]),
  ),
};

/** Names of the chart's copies that say something else than their source. */
export function driftingCopies(): readonly string[] {
  return Object.entries(sources).flatMap(([name, source]) =>
    readText(new URL(name, files)) === readText(source) ? [] : [name],
  );
}

function readText(file: URL): string {
  return readFileSync(file, 'utf8');
}

if (import.meta.main) {
  mkdirSync(new URL('dashboards/', files), { recursive: true });
  for (const [name, source] of Object.entries(sources)) writeFileSync(new URL(name, files), readText(source));
}
