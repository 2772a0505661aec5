import type { Command } from 'commander';
import type { Environment } from './shell.ts';

export type ConnectionFlags = {
  readonly address?: string;
  readonly namespace?: string;
  readonly profile?: string;
};

/** Adds `--address`, `--namespace` and `--profile` to a command. */
export function addConnectionFlags(command: Command): Command {
  return command
    .option('--address <host:port>', 'a Temporal that runs already (TEMPORAL_ADDRESS)')
    .option('--namespace <name>', 'its namespace (TEMPORAL_NAMESPACE; default "default")')
    .option('--profile <name>', "a profile of Temporal's own configuration file (TEMPORAL_PROFILE)");
}

/** Whether the user named a Temporal by flag or `TEMPORAL_` variable; else the embedded server is meant. */
export function namesTemporal(flags: ConnectionFlags, env: Environment): boolean {
  return Boolean(flags.address ?? flags.profile ?? (env.TEMPORAL_ADDRESS || env.TEMPORAL_PROFILE));
}

/**
 * How to connect to the Temporal that the user named, by flag or TEMPORAL_ variable; undefined when none was named and
 * the embedded server is meant. A default profile in Temporal's file does not count: it must be asked for.
 */
export async function namedTemporal(flags: ConnectionFlags, env: Environment) {
  if (!namesTemporal(flags, env)) return undefined;
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const { connectionOptions, namespace } = loadClientConnectConfig({
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    overrideEnvVars: definedOf(env),
  });
  return {
    connectionOptions: {
      ...connectionOptions,
      ...(flags.address === undefined ? {} : { address: flags.address }),
    },
    namespace: flags.namespace ?? namespace ?? 'default',
  };
}

function definedOf(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
