import type { ModelSpec, SweepSpec } from './sweep-spec.ts';

/** The models that a sweep calls, each once: the driver's and its judge's, chat targets', checks'. */
export function modelsUsed(
  spec: Pick<SweepSpec, 'models' | 'driver' | 'targets' | 'checks'>,
): readonly ModelSpec[] {
  const { driver } = spec;
  const drive = driver.kind === 'model' ? driver : driver.kind === 'script' ? driver.drive : undefined;
  const names = [
    drive?.model,
    drive?.faithful,
    ...spec.targets.map((target) => (target.kind === 'chat' ? target.model : undefined)),
    ...spec.checks.map((check) => (check.kind === 'judge' ? check.model : undefined)),
  ];
  return Object.values(spec.models).filter(({ name }) => names.includes(name));
}
