import { drivingModelOf } from './faithful.ts';
import type { ModelSpec, SweepSpec } from './sweep-spec.ts';

/** The models that a sweep calls, each once: the driver's and its judge's, chat targets', checks'. */
export function modelsUsed(
  spec: Pick<SweepSpec, 'models' | 'driver' | 'targets' | 'checks'>,
): readonly ModelSpec[] {
  const names = [...playersOf(spec), ...judgesOf(spec)];
  return Object.values(spec.models).filter(({ name }) => names.includes(name));
}

/** The models that a sweep's judges are, that of the driver among them, each once. */
export function judgesUsed(spec: Pick<SweepSpec, 'models' | 'driver' | 'checks'>): readonly ModelSpec[] {
  const names = judgesOf(spec);
  return Object.values(spec.models).filter(({ name }) => names.includes(name));
}

/** Names of the models that speak in a sweep's conversations: the driver's and chat targets'. */
export function playersOf({ driver, targets }: Pick<SweepSpec, 'driver' | 'targets'>): readonly string[] {
  const driving = drivingModelOf(driver);
  return [
    ...(driving === undefined ? [] : [driving.model]),
    ...targets.flatMap((target) => (target.kind === 'chat' ? [target.model] : [])),
  ];
}

function judgesOf({ driver, checks }: Pick<SweepSpec, 'driver' | 'checks'>): readonly string[] {
  const faithful = drivingModelOf(driver)?.faithful;
  return [
    ...(faithful === undefined ? [] : [faithful]),
    ...checks.flatMap((check) => (check.kind === 'judge' ? [check.model] : [])),
  ];
}
