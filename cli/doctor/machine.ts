import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Store } from '../../activities/ports.ts';
import { systemClock } from '../../adapters/clock.ts';
import { type ConnectionFlags, namedTemporal } from '../connection.ts';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { type Finding, failedBy } from './finding.ts';

type StorePlace = { readonly store: Store; readonly address: string };

const oldestNode = [22, 18] as const;

/** Whether this Node runs TypeScript as it is. */
export function checkNode({ system }: Shell): Finding {
  const [major = 0, minor = 0] = system.nodeVersion.split('.').map(Number);
  const check = 'node';
  const message = `Node ${system.nodeVersion}`;
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) {
    return { check, status: 'ok', message };
  }
  return failedBy(check, new Error(`${message} is too old`), `use Node ${oldestNode.join('.')} or newer`);
}

/** Whether a Temporal answers: the named one with its namespace, else the folder's own server. */
export async function checkTemporal(shell: Shell, flags: ConnectionFlags): Promise<readonly Finding[]> {
  const named = await namedTemporal(flags, shell.env);
  if (named !== undefined) return [await checkNamed(named)];
  const { serverStatus } = await import('../temporal-server/index.ts');
  const server = await serverStatus({ shell });
  if (server !== undefined) {
    const message = `the folder's server ${server.version} answers at ${server.address}`;
    return [{ check: 'temporal', status: 'ok', message }];
  }
  return [await checkBinary(shell)];
}

async function checkBinary(shell: Shell): Promise<Finding> {
  const { resolveTemporal } = await import('../temporal-server/resolve.ts');
  const check = 'temporal';
  try {
    const { version, path } = await resolveTemporal(shell, { download: false });
    return { check, status: 'ok', message: `no server runs here; a run starts ${version} from ${path}` };
  } catch (error) {
    const { hint } = failedBy(check, error);
    const message = 'no Temporal CLI on this machine; a run fetches it once, about 45 MB';
    return { check, status: 'warn', message, ...(hint === undefined ? {} : { hint }) };
  }
}

type Named = NonNullable<Awaited<ReturnType<typeof namedTemporal>>>;

const notFoundStatus = 5;

async function checkNamed({ connectionOptions, namespace }: Named): Promise<Finding> {
  const check = 'temporal';
  const { Connection, isGrpcServiceError } = await import('@temporalio/client');
  const address = connectionOptions.address ?? 'localhost:7233';
  try {
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout: '5s' });
    try {
      await connection.withDeadline(systemClock.now() + 10_000, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    } finally {
      await connection.close();
    }
    return { check, status: 'ok', message: `${address} answers, namespace ${namespace}` };
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === notFoundStatus) {
      const missing = new CommandFailure('unreachable', `${address} has no namespace ${namespace}`);
      return failedBy(check, missing, `temporal operator namespace create --namespace ${namespace}`);
    }
    const away = new CommandFailure('unreachable', `${address}: ${messageOf(error)}`);
    return failedBy(check, away, 'see to the address, the key and the network');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the store can be written and read; folders that were made for that are removed again. */
export async function checkStore({ store, address }: StorePlace): Promise<Finding> {
  const made = missingFolders(address);
  try {
    await store.probe();
    return { check: 'store', status: 'ok', message: `${store.address} is writable` };
  } catch (error) {
    return failedBy('store', error);
  } finally {
    for (const folder of made) await rmdir(folder).catch(() => {});
  }
}

/** The folders of a path that are not there yet, the deepest first. */
function missingFolders(path: string): readonly string[] {
  return existsSync(path) ? [] : [path, ...missingFolders(dirname(path))];
}
