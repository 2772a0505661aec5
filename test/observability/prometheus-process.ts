import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../dev-server.ts';
import { rulesFile } from './queries.ts';

export type Series = {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly number[];
};

/** A real Prometheus of a test's own. */
export type Prometheus = {
  /** Series over the last minute, second by second. Throws what Prometheus says where it does not take the query. */
  range(expr: string): Promise<readonly Series[]>;
  /** Series now, each with one value. */
  now(expr: string): Promise<readonly Series[]>;
  /** The query as Prometheus would write it; throws where it is none. */
  format(expr: string): Promise<string>;
  stop(): Promise<void>;
};

export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

/** Starts Prometheus with the published rules, scraping each job's targets once a second. */
export async function startPrometheus(
  jobs: Readonly<Record<string, readonly string[]>>,
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-prometheus-'));
  await copyFile(rulesFile, join(folder, 'regatta.rules.yaml'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['regatta.rules.yaml'],
    scrape_configs: Object.entries(jobs).map(([job_name, targets]) => ({
      job_name,
      honor_labels: true,
      static_configs: [{ targets }],
    })),
  };
  const file = join(folder, 'prometheus.yaml');
  await writeFile(file, stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [
    '--config.file',
    file,
    '--storage.tsdb.path',
    join(folder, 'data'),
    '--web.listen-address',
    address,
  ];
  const child = spawn('prometheus', [...flags, '--log.level', 'error'], { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await answers(address, child);
  const ask = askAt(`http://${address}/api/v1`);
  return {
    range: (expr) => {
      const end = Date.now() / 1000;
      return ask('query_range', { query: expr, start: `${end - 60}`, end: `${end}`, step: '1' }).then(
        seriesOf,
      );
    },
    now: (expr) => ask('query', { query: expr }).then(seriesOf),
    format: async (expr) => String(await ask('format_query', { query: expr })),
    async stop() {
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(address: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`http://${address}/-/ready`).catch(() => undefined);
    if (ready?.ok) return;
    if (tries > 100 || child.exitCode !== null) throw new Error('Prometheus did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

type Answer = { readonly status: string; readonly error?: string; readonly data?: unknown };

function askAt(url: string) {
  return async (path: string, parameters: Readonly<Record<string, string>>): Promise<unknown> => {
    const response = await fetch(`${url}/${path}`, { method: 'POST', body: new URLSearchParams(parameters) });
    const answer = (await response.json()) as Answer;
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${parameters.query}`);
    return answer.data;
  };
}

type Sample = readonly [number, string];

function seriesOf(data: unknown): readonly Series[] {
  const { result } = data as {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: Sample;
      readonly values?: readonly Sample[];
    }[];
  };
  return result.map(({ metric, value, values }) => ({
    metric,
    values: (values ?? (value === undefined ? [] : [value])).map(([, text]) => Number(text)),
  }));
}
