import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../test-files.ts';
import { run } from './shell.ts';
import { findHelm } from './tools.ts';

export const chart = join(root, 'deploy/helm/regatta');

/** The ways that the chart is known to be used in, by name: `minimal` for `ci/minimal-values.yaml`. */
export const scenarios = globSync('ci/*-values.yaml', { cwd: chart })
  .map((path) => basename(path, '-values.yaml'))
  .sort();

/** One rendered object; what it holds is asked by path. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
} & Readonly<Record<string, unknown>>;

export const valuesOf = (scenario: string): string => join(chart, `ci/${scenario}-values.yaml`);

/** The manifests' text of a scenario, with further `--set-json` values; throws what Helm complains of. */
export async function renderText(scenario: string, set: readonly string[] = []): Promise<string> {
  const helm = await findHelm();
  if (helm === undefined) throw new Error('there is no helm');
  const more = set.flatMap((value) => ['--set-json', value]);
  const args = [
    'template',
    'regatta',
    chart,
    '--namespace',
    'sweeps',
    '--values',
    valuesOf(scenario),
    ...more,
  ];
  const { code, stdout, stderr } = await run(helm, args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The manifests of a scenario. */
export async function render(scenario: string, set: readonly string[] = []): Promise<readonly Manifest[]> {
  const documents = parseAllDocuments(await renderText(scenario, set));
  return documents.flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** What lies at a path like `spec.template.spec.containers.0.args`; undefined where nothing does. */
export function at(manifest: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      manifest,
    );
}

/** The one manifest of a kind, and of a name that ends so. */
export function the(manifests: readonly Manifest[], kind: string, ending = ''): Manifest {
  const found = manifests.filter(
    (manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(ending),
  );
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} of ${kind} *${ending}`);
  return only;
}

/** The templates of pods, of whatever makes them. */
export function pods(manifests: readonly Manifest[]): readonly unknown[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map((manifest) => at(manifest, 'spec.template'));
}
