import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Contact, Meter, WorkerDependencies } from '../activities/ports.ts';
import { createChatModels } from '../adapters/chat-model/index.ts';
import { systemClock as clock } from '../adapters/clock.ts';
import { sha256 } from '../adapters/hash.ts';
import { hideSecrets } from '../adapters/hidden-secrets.ts';
import { allowHosts } from '../adapters/hosts.ts';
import { createHttpAgent } from '../adapters/http-agent.ts';
import { moduleHash } from '../adapters/module-hash.ts';
import { createModules } from '../adapters/modules/index.ts';
import { createPaces, type Leases, type Paces } from '../adapters/pace.ts';
import { createPrices } from '../adapters/prices.ts';
import { compileRegex } from '../adapters/regex.ts';
import { createSecrets, type Secrets } from '../adapters/secrets.ts';
import { createTargets } from '../adapters/targets.ts';

export type WorkerParts = {
  /** Folder that user modules come from. */
  readonly project: string;
  readonly openStore: WorkerDependencies['openStore'];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names, or patterns, of the environment variables that sweeps may use. */
  readonly allowEnv: readonly string[];
  /** Hosts that models and targets may be at; empty: all. */
  readonly allowHost: readonly string[];
  /**
   * The part of each endpoint's pace that this process may use, above 0 to 1, or who shares the pace out among all
   * workers; default 1.
   */
  readonly pace?: number | Leases;
  readonly meter: Meter;
  readonly onPaceWait: (wait: { readonly model: string; readonly ms: number }) => void;
  readonly contact: Contact;
  readonly drain: AbortSignal;
  /** Takes what user code prints. */
  readonly log: (text: string) => void;
  readonly version: string;
  /** Makes the requests of models and HTTP targets; closed with the rest. Default: a new one. */
  readonly agent?: ReturnType<typeof createHttpAgent>;
};

/** What the activities of one worker process need from outside; `close` frees it. */
export function createDependencies(parts: WorkerParts): {
  readonly deps: WorkerDependencies;
  readonly secrets: Secrets;
  /** How each endpoint's pace stands. */
  readonly readings: Paces['readings'];
  close(): Promise<void>;
} {
  const secrets = createSecrets({ env: parts.env, allowed: parts.allowEnv });
  const { resolve, redact } = secrets;
  const dispatcher = parts.agent ?? createHttpAgent();
  const checkHost = allowHosts(parts.allowHost);
  const modules = createModules({
    projectFolder: parts.project,
    hashModule: moduleHash,
    redact,
    log: parts.log,
  });
  const paces = createPaces({
    now: () => performance.now(),
    onWait: parts.onPaceWait,
    mayCall: parts.contact.mayCall,
    ...paceOf(parts.pace ?? 1),
  });
  const models = createChatModels({
    dispatcher,
    paces,
    prices: createPrices(),
    resolve,
    redact,
    clock,
    checkHost,
  });
  const targets = createTargets({
    ...{ agent: dispatcher, secrets, checkHost, modules },
    hold: parts.contact.hold,
  });
  const deps: WorkerDependencies = {
    clock,
    ...hideSecrets({ models, targets, modules }, secrets.hide),
    compileRegex,
    hash: sha256,
    openStore: parts.openStore,
    identity: `${process.pid}@${hostname()}`,
    meter: parts.meter,
    contact: parts.contact,
    drain: parts.drain,
    proveEnv: secrets.prove,
    nonce: () => randomBytes(4).toString('hex'),
    version: parts.version,
  };
  return {
    deps,
    secrets,
    readings: paces.readings,
    async close() {
      await modules.close();
      await dispatcher.close();
    },
  };
}

function paceOf(pace: number | Leases) {
  return typeof pace === 'number' ? { share: pace } : { leases: pace };
}
