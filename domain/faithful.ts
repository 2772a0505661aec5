import type { CheckSpec } from './check.ts';
import { faithfulCheck } from './settle.ts';
import type { DriverModel, DriverSpec } from './sweep-spec.ts';

const rubric = `This question is about the driver, not about the target.
The driver was to play a person by the brief below. Did it keep to the brief?
It passes if it spoke as that person throughout, used only facts of the brief or of what the target told it, pursued what the brief wants, and stopped only when that was reached or clearly refused.
It fails if it invented facts that matter, offered help like an assistant, spoke for the target, gave up without cause, or went against the brief.
What the target did well or badly does not count.

The brief:
`;

/** The model that drives, if any does. */
export function drivingModelOf(driver: DriverSpec): DriverModel | undefined {
  switch (driver.kind) {
    case 'model':
      return driver;
    case 'script':
      return driver.drive;
    case 'none':
      return undefined;
  }
}

/** The opt-in judge of the driver, as a soft check that is journaled like any other; undefined where nobody asked for it. */
export function faithfulCheckOf(driver: DriverSpec): CheckSpec | undefined {
  const driving = drivingModelOf(driver);
  if (driving?.faithful === undefined) return undefined;
  return {
    kind: 'judge',
    name: faithfulCheck,
    model: driving.faithful,
    rubric: `${rubric}${driving.prompt}`,
    answer: { kind: 'pass_fail' },
    votes: 1,
    sees: 'transcript',
    at: 'end',
    rollup: 'all',
    required: false,
    not: false,
  };
}
