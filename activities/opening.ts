import { drivingModelOf } from '../domain/faithful.ts';
import { driverOf } from '../domain/given-turns.ts';
import type { Opened } from '../domain/journal.ts';
import { managedVersion } from '../domain/managed-prompt.ts';
import type { DriverModel } from '../domain/sweep-spec.ts';
import { renderText } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import type { PlannedRun } from './catalog.ts';
import type { Stretch } from './stretch.ts';

/** Begins the conversation of a generation, and records what it is played with. */
export async function openConversation(
  stretch: Stretch,
  opening: { readonly generation: number; readonly because?: Opened['because'] },
): Promise<void> {
  const { plan, deps } = stretch;
  const { spec } = plan.sweep;
  const driver = drivingModelOf(driverOf(spec.driver, plan.scenario));
  await stretch.record({
    kind: 'opened',
    generation: opening.generation,
    seed: plan.run.seed,
    prompts: promptsOf(plan, driver),
    models: modelsOf(plan, driver),
    managed: driver?.managed ?? false,
    ...(driver?.managed === true ? { managed_version: managedVersion } : {}),
    version: deps.version,
    ...(opening.because === undefined ? {} : { because: opening.because }),
  });
}

/** The driver's prompt as its author wrote it, rendered for this run. */
export function renderedPrompt(plan: PlannedRun, driver: DriverModel): string {
  return renderText(driver.prompt, scenarioVariables(plan.scenario, plan.run));
}

function promptsOf(plan: PlannedRun, driver: DriverModel | undefined): Record<string, string> {
  const { target } = plan;
  const system = target.kind === 'chat' ? target.system : undefined;
  const variables = {
    ...scenarioVariables(plan.scenario, plan.run),
    message_history: undefined,
    latest_message: undefined,
  };
  return {
    ...(driver === undefined ? {} : { driver: renderedPrompt(plan, driver) }),
    ...(system === undefined ? {} : { target: renderText(system, variables) }),
  };
}

function modelsOf(plan: PlannedRun, driver: DriverModel | undefined): Record<string, string> {
  const { models } = plan.sweep.spec;
  const named = {
    driver: driver?.model,
    target: plan.target.kind === 'chat' ? plan.target.model : undefined,
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([role, name]) => {
      const model = name === undefined ? undefined : models[name];
      return model === undefined ? [] : [[role, model.model]];
    }),
  );
}
