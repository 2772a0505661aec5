import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { workerDefaults } from '../../workers/config.ts';
import { root } from '../test-files.ts';
import { at } from './chart.ts';
import { output } from './shell.ts';
import { pythonTool } from './tools.ts';

const source = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8');
const compose = read(source);
const services = Object(at(compose, 'services')) as Readonly<Record<string, unknown>>;

/** With `${NAME:-default}` replaced as compose does it, where nobody set a variable. */
function read(text: string): unknown {
  return parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$'), { merge: true });
}

describe('compose.yaml', () => {
  it('is as the compose specification has it', async (t) => {
    const python = await pythonTool('python');
    if (python === undefined) return t.skip('compose-spec cannot be had from PyPI');
    assert.equal(await complaint(python, compose), '');
    assert.match(await complaint(python, read(source.replace('retries:', 'retreis:'))), /retreis/);
  });

  it('waits only for services that are there, in an order that can be had', () => {
    const waits = new Map(
      Object.entries(services).map(([name, service]) => [
        name,
        Object.keys(Object(at(service, 'depends_on'))),
      ]),
    );
    const started = new Set<string>();
    for (let before = -1; before < started.size; ) {
      before = started.size;
      for (const [name, others] of waits) if (others.every((other) => started.has(other))) started.add(name);
    }
    assert.deepEqual(
      [...waits.keys()].filter((name) => !started.has(name)),
      [],
    );
  });

  it('mounts only files and volumes that are there', () => {
    for (const service of Object.values(services)) {
      for (const volume of Object.values(Object(at(service, 'volumes')))) {
        const [from = ''] = String(volume).split(':');
        const isThere = from.startsWith('.')
          ? existsSync(join(root, 'deploy', from))
          : at(compose, `volumes.${from}`);
        assert.ok(isThere, String(volume));
      }
      for (const { source } of Object.values<{ source: string }>(Object(at(service, 'configs')))) {
        assert.ok(at(compose, `configs.${source}.content`), source);
      }
    }
  });

  it('holds configurations that are YAML of their own', () => {
    for (const { content } of Object.values<{ content: string }>(Object(at(compose, 'configs')))) {
      assert.equal(typeof parse(content), 'object');
    }
  });

  it('has Prometheus take a configuration that promtool accepts', async (t) => {
    const promtool = await output('promtool', ['--version']).catch(() => undefined);
    if (promtool === undefined) return t.skip('promtool is not installed');
    const folder = await mkdtemp(join(tmpdir(), 'regatta-compose-'));
    try {
      await writeFile(join(folder, 'prometheus.yml'), String(at(compose, 'configs.prometheus.content')));
      await copyFile(join(root, 'deploy/prometheus/regatta.rules.yaml'), join(folder, 'regatta.rules.yaml'));
      await output('promtool', ['check', 'config', join(folder, 'prometheus.yml')]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('offers its ports to this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => Object.values(Object(at(service, 'ports'))));
    assert.ok(ports.length >= 4);
    assert.deepEqual(
      ports.filter((port) => !String(port).startsWith('127.0.0.1:')),
      [],
    );
  });

  it('lets workers end their drain', () => {
    const grace = Number.parseInt(workerDefaults.grace, 10);
    assert.equal(at(services.workers, 'stop_grace_period'), `${grace + 30}s`);
  });

  it('names only variables that flags of regatta have', async () => {
    const help = await output(process.execPath, ['cli/main.ts', 'worker', '--help'], { cwd: root });
    const names = Object.keys(Object(at(services.workers, 'environment'))).filter((name) =>
      name.startsWith('REGATTA_'),
    );
    for (const name of names) {
      assert.ok(help.includes(`--${name.replace('REGATTA_', '').toLowerCase().replaceAll('_', '-')}`), name);
    }
  });
});

/** What the specification has against a compose file; nothing where it is well. */
async function complaint(python: string, file: unknown): Promise<string> {
  const child = spawn(python, [join(root, 'test/deploy/check-compose.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(file));
  return (await text(child.stdout)).trim();
}
