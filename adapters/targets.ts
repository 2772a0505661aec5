import type { Dispatcher } from 'undici';
import type { Target, Targets } from '../activities/ports.ts';
import { canonicalJson, type Json } from '../domain/json.ts';
import type { CheckHost } from './hosts.ts';
import { createHttpTarget } from './http-target/index.ts';
import { createModuleTarget } from './module-target.ts';
import type { ModuleHost } from './modules/index.ts';
import { createQueueTarget } from './queue-target.ts';
import { createScriptTarget } from './script-target.ts';
import type { Secrets } from './secrets.ts';
import { createTurnstile } from './turnstile.ts';

export type TargetsOptions = {
  readonly agent: Dispatcher;
  readonly secrets: Pick<Secrets, 'resolve' | 'redact' | 'learn'>;
  readonly checkHost: CheckHost;
  readonly modules: ModuleHost;
  /** Awaited before each call, once it is its turn; rejects with the signal's reason. Default: nothing is held back. */
  readonly hold?: (signal: AbortSignal) => Promise<void>;
};

type Openable = Parameters<Targets['open']>[0];

/** More targets than this are not kept; the one that was opened first goes first. */
const maxKept = 256;

/**
 * The targets of this process that are not chat models. Equal targets are one: they share access tokens and
 * `max_parallel_requests`, whatever run calls them.
 */
export function createTargets(options: TargetsOptions): Targets {
  const kept = new Map<string, Target>();
  return {
    open: (spec) => {
      const key = canonicalJson(spec as Json);
      const known = kept.get(key);
      if (known !== undefined) return known;
      const target = openTarget(spec, options);
      kept.set(key, target);
      for (const oldest of kept.keys()) if (kept.size > maxKept) kept.delete(oldest);
      return target;
    },
  };
}

function openTarget(spec: Openable, { modules, hold, ...parts }: TargetsOptions): Target {
  const turnstile = createTurnstile(spec.maxParallelRequests, hold);
  switch (spec.kind) {
    case 'http':
      return createHttpTarget(spec, { ...parts, turnstile });
    case 'module':
      return createModuleTarget(spec, { modules, turnstile });
    case 'queue':
      return createQueueTarget();
    case 'script':
      return createScriptTarget(spec);
  }
}
