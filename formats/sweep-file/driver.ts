import type { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import type { DriverModel, DriverSpec, ScriptStep } from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import { present } from '../present.ts';
import type { Reader } from './reader.ts';
import { driverSchema } from './schema.ts';

type RawDriver = z.output<typeof driverSchema>;

/** The driver: a model, a script (with or without a model), or none where the section is absent. */
export function readDriver(reader: Reader, value: Json | undefined): DriverSpec {
  if (value === undefined) return { kind: 'none' };
  const raw = reader.shaped(driverSchema, value, ['driver']);
  if (raw === undefined) return { kind: 'none' };
  if (raw.script === undefined) {
    const model = readDriverModel(reader, raw, 'a driver is a model with a prompt, or a script');
    return model === undefined ? { kind: 'none' } : { kind: 'model', ...model };
  }
  return readScript(reader, raw, raw.script);
}

function readScript(reader: Reader, raw: RawDriver, written: NonNullable<RawDriver['script']>): DriverSpec {
  const steps = written.map((step, index): ScriptStep => {
    if (typeof step !== 'string' && 'drive' in step) return { kind: 'drive', turns: step.drive };
    const text = typeof step === 'string' ? step : step.say;
    const path = ['driver', 'script', index, ...(typeof step === 'string' ? [] : ['say'])];
    return { kind: 'say', text: reader.template(text, { path, place: 'driver' }) };
  });
  if (steps.some((step) => step.kind === 'drive')) {
    const drive = readDriverModel(reader, raw, '`drive: N` lets a model speak');
    return { kind: 'script', steps, ...present({ drive }) };
  }
  const { script: _, ...unused } = raw;
  for (const key of Object.keys(unused)) {
    reader.refuse(
      ['driver', key],
      `"${key}" is of no use here`,
      'the script has no `drive: N`, so no model speaks',
    );
  }
  return { kind: 'script', steps };
}

function readDriverModel(reader: Reader, raw: RawDriver, why: string): DriverModel | undefined {
  const { model, prompt } = raw;
  if (model === undefined) reader.refuse(['driver'], '"model" is missing', why);
  if (prompt === undefined) reader.refuse(['driver'], '"prompt" is missing', why);
  const named = model === undefined ? undefined : reader.model(model, ['driver', 'model']);
  const faithful =
    raw.faithful === undefined ? undefined : reader.model(raw.faithful, ['driver', 'faithful']);
  if (prompt !== undefined) reader.template(prompt, { path: ['driver', 'prompt'], place: 'driver' });
  if (named === undefined || prompt === undefined) return undefined;
  return {
    model: named,
    prompt,
    temperature: raw.temperature ?? defaults['driver.temperature'],
    temperatureGiven: raw.temperature !== undefined,
    managed: raw.managed ?? defaults['driver.managed'],
    ...present({ faithful }),
  };
}
