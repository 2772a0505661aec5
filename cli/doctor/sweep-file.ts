import { setTimeout as sleepFor } from 'node:timers/promises';
import type { ChatModels, Clock } from '../../activities/ports.ts';
import { createChatModels } from '../../adapters/chat-model/index.ts';
import { allowHosts } from '../../adapters/hosts.ts';
import { createHttpAgent } from '../../adapters/http-agent.ts';
import { createPaces } from '../../adapters/pace.ts';
import { createPrices } from '../../adapters/prices.ts';
import { createSecrets } from '../../adapters/secrets.ts';
import { modelsUsed } from '../../domain/models-used.ts';
import type { ModelSpec, SweepSpec } from '../../domain/sweep-spec.ts';
import type { Shell } from '../shell.ts';
import { readSweep } from '../sweep/read-sweep.ts';
import { type Finding, failedBy } from './finding.ts';

/** Whether a sweep file is right, the environment variables that it names are set, and its models answer. */
export async function checkSweepFile(shell: Shell, file: string): Promise<readonly Finding[]> {
  let spec: SweepSpec;
  try {
    ({ spec } = await readSweep(shell, file, {}));
  } catch (error) {
    return [failedBy('file', error)];
  }
  const right: Finding = { check: 'file', status: 'ok', message: `${file} holds no mistake` };
  const environment = checkEnvironment(shell, spec.env);
  const findings = [right, ...environment];
  // Without its key a model would answer nothing but that.
  if (environment.some(({ status }) => status === 'fail')) return findings;
  return [...findings, ...(await checkModels(shell, spec))];
}

function checkEnvironment(shell: Shell, names: readonly string[]): readonly Finding[] {
  return names.map((name) =>
    shell.env[name]
      ? { check: 'env', status: 'ok', message: `${name} is set` }
      : failedBy('env', new Error(`${name} is not set`), `export ${name}=...`),
  );
}

async function checkModels(shell: Shell, spec: SweepSpec): Promise<readonly Finding[]> {
  const { resolve, redact } = createSecrets({ env: shell.env, allowed: spec.env });
  const clock: Clock = {
    now: shell.now,
    sleep: (ms, signal) => sleepFor(ms, undefined, signal === undefined ? {} : { signal }),
  };
  const dispatcher = createHttpAgent();
  const models = createChatModels({
    ...{ dispatcher, resolve, redact, clock },
    paces: createPaces({ now: shell.now, share: 1, onWait: () => {} }),
    prices: createPrices(),
    checkHost: allowHosts([]),
  });
  try {
    const used = modelsUsed(spec);
    const [answers, clocks] = await Promise.all([
      Promise.all(used.map((model) => checkModel(models, model, clock))),
      Promise.all(used.slice(0, 1).map((model) => checkClock(resolve(model.baseUrl), clock))),
    ]);
    return [...answers, ...clocks.flat()];
  } finally {
    await dispatcher.destroy();
  }
}

const answerLimitMs = 20_000;

/** A model that is asked for a few tokens; one that is still loading is not waited for. */
async function checkModel(models: ChatModels, model: ModelSpec, clock: Clock): Promise<Finding> {
  const check = 'model';
  const name = `${model.name} (${model.model} at ${model.baseUrl})`;
  const signal = AbortSignal.timeout(answerLimitMs);
  try {
    const { warning } = await models.probe(model, { signal, timeoutMs: answerLimitMs, order: clock.now() });
    if (warning === undefined) return { check, status: 'ok', message: `${name} answers` };
    return { check, status: 'warn', message: `${name}: ${warning}` };
  } catch (error) {
    if (!signal.aborted) return failedBy(check, error, `${name}: see to its base_url, api_key and model`);
    const message = `${name} gave no answer within ${answerLimitMs / 1_000} s`;
    return failedBy(check, new Error(message), 'is its server running?');
  }
}

const [clockLimitMs, mostSkewMs] = [5_000, 30_000];

/** This machine's clock against the `Date` of a model's server; nothing where it sends none. */
async function checkClock(url: string, clock: Clock): Promise<readonly Finding[]> {
  const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(clockLimitMs) }).catch(
    () => undefined,
  );
  const skewMs = Date.parse(answer?.headers.get('date') ?? '') - clock.now();
  if (Number.isNaN(skewMs)) return [];
  const { host } = new URL(url);
  if (Math.abs(skewMs) <= mostSkewMs) {
    return [{ check: 'clock', status: 'ok', message: `this machine's clock agrees with that of ${host}` }];
  }
  const side = skewMs > 0 ? 'behind' : 'ahead of';
  const message = `this machine's clock is ${Math.round(Math.abs(skewMs) / 1_000)} s ${side} that of ${host}`;
  const hint = 'set it: times that providers ask to wait until are read wrong';
  return [{ check: 'clock', status: 'warn', message, hint }];
}
