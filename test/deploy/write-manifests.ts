import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../test-files.ts';
import { renderText, scenarios } from './chart.ts';

/** `node test/deploy/write-manifests.ts`: the chart, rendered for people without Helm. */

const folder = join(root, 'deploy/manifests');
const heading =
  '# Rendered from deploy/helm/regatta with ci/NAME-values.yaml: change those, then run\n#   node test/deploy/write-manifests.ts\n';

/** The file of a scenario and what it should say. */
export async function manifestFile(
  scenario: string,
): Promise<{ readonly path: string; readonly text: string }> {
  const text = await renderText(scenario);
  const plain = text
    .replace(/^ *helm\.sh\/chart: .*\n/gm, '')
    .replaceAll('app.kubernetes.io/managed-by: Helm', 'app.kubernetes.io/managed-by: kubectl')
    .replace(/^# Source: .*\n/gm, '')
    .replace(/\n{2,}/g, '\n');
  return { path: join(folder, `${scenario}.yaml`), text: heading.replace('NAME', scenario) + plain };
}

/** Scenarios whose file says something else than the chart. */
export async function driftingManifests(): Promise<readonly string[]> {
  const drifting: string[] = [];
  for (const scenario of scenarios) {
    const { path, text } = await manifestFile(scenario);
    if ((await readFile(path, 'utf8').catch(() => '')) !== text) drifting.push(scenario);
  }
  return drifting;
}

if (process.argv[1] === import.meta.filename) {
  await mkdir(folder, { recursive: true });
  for (const scenario of scenarios) {
    const { path, text } = await manifestFile(scenario);
    await writeFile(path, text);
  }
}
