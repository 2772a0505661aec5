import type { CheckSpec } from '../domain/check.ts';
import { Fault, isConfigurationCode } from '../domain/fault.ts';
import { judgesUsed, modelsUsed } from '../domain/models-used.ts';
import type { ModuleRef, SweepSpec, TargetSpec } from '../domain/sweep-spec.ts';
import type { Catalog } from './catalog.ts';
import type { Dependencies } from './ports.ts';
import type { Signals } from './stretch.ts';

/** Which sweep is to be played, or only judged again, and by which check set (absent: as planned). */
export type PreflightInput = {
  readonly sweep: string;
  readonly hash: string;
  readonly rejudge?: boolean;
  readonly checkSet?: number;
};

/**
 * Proves that this worker can play a sweep: it sees the same store, with the plan that was started, and has the
 * environment names and the modules. Throws a configuration `Fault` that says what it lacks; another worker may not.
 */
export async function preflight(deps: Dependencies, catalog: Catalog, input: PreflightInput): Promise<void> {
  const { spec, hash, checkSets } = await catalog.sweep(input.sweep, input.checkSet);
  if (hash !== input.hash) {
    const message = `the store ${deps.store.address} holds another sweep under the id ${input.sweep}: is it the store that the sweep was started with?`;
    throw new Fault('invalid_request', message, { blame: 'configuration' });
  }
  await deps.store.probe();
  const set = input.rejudge ? checkSets?.at(-1) : undefined;
  deps.proveEnv(set?.env ?? spec.env);
  for (const module of modulesOf(input.rejudge ? { ...spec, targets: [] } : spec))
    await deps.modules.prove(module);
}

/** Every module that a sweep's runs load. */
export function modulesOf(spec: Pick<SweepSpec, 'targets' | 'checks'>): readonly ModuleRef[] {
  return [...spec.targets.flatMap(modulesOfTarget), ...spec.checks.flatMap(moduleOfCheck)];
}

function modulesOfTarget(target: TargetSpec): readonly ModuleRef[] {
  switch (target.kind) {
    case 'chat':
      return target.tools.map((tool) => tool.module);
    case 'module':
      return [target.module];
    case 'http':
    case 'queue':
    case 'script':
      return [];
  }
}

function moduleOfCheck(check: CheckSpec): readonly ModuleRef[] {
  return check.kind === 'code' ? [check.module] : [];
}

export type Probed = {
  /** What an endpoint that will take no call of this sweep said. */
  readonly refused?: string;
  readonly warnings: readonly string[];
  readonly calls: number;
};

/** Asks each model endpoint of a sweep once: a wrong key or name is found before the first run. */
export async function probeEndpoints(
  deps: Dependencies,
  catalog: Catalog,
  input: Omit<PreflightInput, 'hash'>,
  signals: Signals,
): Promise<Probed> {
  const { spec } = await catalog.sweep(input.sweep, input.checkSet);
  const options = { signal: signals.stop, timeoutMs: spec.timeouts.callMs, order: 0 };
  const probes = await Promise.all(
    (input.rejudge ? judgesUsed(spec) : modelsUsed(spec)).map(async (model): Promise<Probed> => {
      try {
        const { warning, calls } = await deps.models.probe(model, options);
        return { warnings: warning === undefined ? [] : [warning], calls };
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (isConfigurationCode(error.code)) return { refused: error.message, warnings: [], calls: 1 };
        return { warnings: [error.message], calls: 1 };
      }
    }),
  );
  const refused = probes.flatMap((probe) => probe.refused ?? []);
  return {
    warnings: probes.flatMap((probe) => probe.warnings),
    calls: probes.reduce((sum, probe) => sum + probe.calls, 0),
    ...(refused.length === 0 ? {} : { refused: refused.join('; ').slice(0, 1_000) }),
  };
}
