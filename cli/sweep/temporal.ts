import type { Client } from '@temporalio/client';
import { type ConnectionFlags, namedTemporal } from '../connection.ts';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';

/** An open connection to the Temporal that a command works with. */
export type Temporal = {
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
  /** Options to connect a worker with. */
  readonly connectionOptions: object;
  /** The server of this folder, started on demand; a local run is its own fleet. */
  readonly embedded: boolean;
  /** Closes the connection, and gives up the embedded server. */
  close(): Promise<void>;
};

/**
 * Connects to the Temporal that was named by flag or environment, else to the folder's own server, which it starts.
 * @throws CommandFailure (unreachable) where there is none.
 */
export async function openTemporal(
  shell: Shell,
  flags: ConnectionFlags & { readonly ui?: boolean },
): Promise<Temporal> {
  const named = await namedTemporal(flags, shell.env);
  if (named !== undefined) {
    shell.stderr.write(
      `Temporal: ${named.connectionOptions.address ?? 'localhost:7233'}, namespace ${named.namespace}\n`,
    );
    return connect(named.connectionOptions, named.namespace, undefined);
  }
  const { acquireServer, watchServer } = await import('../temporal-server/index.ts');
  const server = await acquireServer({ shell, ui: flags.ui ?? false });
  // A server of ours that dies is brought back on its database and port.
  const endWatch = watchServer({ shell });
  const release = async () => {
    endWatch();
    await server.release();
  };
  try {
    return await connect({ address: server.address }, server.namespace, release);
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Connects to the Temporal that was named, else to the folder's own server if it runs; starts none.
 * @throws CommandFailure (unreachable) where there is none.
 */
export async function openRunningTemporal(shell: Shell, flags: ConnectionFlags): Promise<Temporal> {
  const named = await namedTemporal(flags, shell.env);
  if (named !== undefined) return connect(named.connectionOptions, named.namespace, undefined);
  const { serverStatus } = await import('../temporal-server/index.ts');
  const server = await serverStatus({ shell });
  if (server === undefined) {
    throw new CommandFailure(
      'unreachable',
      'no Temporal server runs in this folder',
      'name one with --address, or start the sweep: regatta resume ID',
    );
  }
  return connect({ address: server.address }, 'default', undefined);
}

async function connect(
  connectionOptions: { readonly address?: string },
  namespace: string,
  release: (() => Promise<void>) | undefined,
): Promise<Temporal> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ ...connectionOptions, connectTimeout: '10s' });
  return {
    client: new Client({ connection, namespace }),
    address: connectionOptions.address ?? 'localhost:7233',
    namespace,
    connectionOptions,
    embedded: release !== undefined,
    async close() {
      await connection.close();
      await release?.();
    },
  };
}
