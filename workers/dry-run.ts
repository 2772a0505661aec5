import { playStretch } from '../activities/play.ts';
import type {
  ChatReply,
  ChatRequest,
  Dependencies,
  JournalWriter,
  Meter,
  SessionStart,
  SweepRecord,
  Target,
  TargetCall,
  TargetReply,
} from '../activities/ports.ts';
import { openStretch, type Signals, type Stretch } from '../activities/stretch.ts';
import { targetCallOf } from '../activities/target-call.ts';
import { createFileStore } from '../adapters/file-store/index.ts';
import { createHttpAgent } from '../adapters/http-agent.ts';
import { type HttpExchange, tapHttp } from '../adapters/http-tap.ts';
import type { Ending } from '../domain/ending.ts';
import { Fault } from '../domain/fault.ts';
import { runSeed } from '../domain/random.ts';
import { runIdOf } from '../domain/run-id.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ScriptStep, SweepSpec, TargetSpec } from '../domain/sweep-spec.ts';
import type { Transcript } from '../domain/transcript.ts';
import { createDependencies, type WorkerParts } from './dependencies.ts';

export type DryRunInput = Pick<
  WorkerParts,
  'project' | 'env' | 'allowEnv' | 'allowHost' | 'log' | 'version'
> & {
  readonly spec: SweepSpec;
  readonly target: TargetSpec;
  readonly scenario: Scenario;
  /** What the driver says. */
  readonly script: readonly ScriptStep[];
  /** Ends it after the session was closed. */
  readonly signal: AbortSignal;
};

/** One call of the target: what went over the wire, and what was read out of it or why nothing was. */
export type DryStep = {
  /** Those of a login, too. */
  readonly exchanges: readonly HttpExchange[];
  readonly fault?: Fault;
} & (
  | { readonly kind: 'start'; readonly call: TargetCall; readonly read?: SessionStart }
  | { readonly kind: 'reply'; readonly call: TargetCall; readonly read?: TargetReply }
  | { readonly kind: 'end'; readonly call: TargetCall }
  | { readonly kind: 'model'; readonly request: ChatRequest; readonly read?: ChatReply }
);

export type DryRun = {
  readonly steps: readonly DryStep[];
  readonly transcript: Transcript;
  readonly ending?: Ending;
  /** What stopped it: a fault of a call, a tool that throws, too many tool calls. */
  readonly trouble?: string;
  /** Hides the values of variables and access tokens in a text. */
  readonly hide: (text: string) => string;
};

/** Longest wait for a session to close. */
const partingMs = 10_000;

/**
 * Plays a conversation against a target as a run would, without Temporal, store or driver model: each call is made
 * once, and shown. Faults of the target are data.
 */
export async function dryRun(input: DryRunInput): Promise<DryRun> {
  const exchanges: HttpExchange[] = [];
  const steps: DryStep[] = [];
  const { deps, secrets, close } = createDependencies({
    ...input,
    openStore: () => createFileStore(input.project),
    meter: silentMeter,
    onPaceWait: () => {},
    contact: { hold: async () => {}, mayCall: () => true },
    drain: input.signal,
    agent: tapHttp(createHttpAgent(), (exchange) => exchanges.push(exchange)),
  });
  try {
    const tapped = tapDependencies({ ...deps, store: deps.openStore(undefined) }, async (work, show) => {
      exchanges.length = 0;
      try {
        const read = await work();
        steps.push(show({ exchanges: [...exchanges], read }));
        return read;
      } catch (error) {
        if (error instanceof Fault) steps.push(show({ exchanges: [...exchanges], fault: error }));
        throw error;
      }
    });
    const stretch = openDryStretch(tapped, input);
    await play(stretch, input.signal);
    await endSession(stretch);
    const { transcript, ending, broken } = stretch.now();
    const trouble = broken?.message ?? (ending?.kind === 'target_error' ? ending.detail : undefined);
    return {
      steps,
      transcript,
      ...(ending === undefined ? {} : { ending }),
      ...(trouble === undefined ? {} : { trouble }),
      hide: secrets.redact,
    };
  } finally {
    await close();
  }
}

type Seen<T> = Pick<DryStep, 'exchanges' | 'fault'> & { readonly read?: T };
type Tap = <T>(work: () => Promise<T>, show: (seen: Seen<T>) => DryStep) => Promise<T>;

function tapDependencies(deps: Dependencies, tap: Tap): Dependencies {
  const { models, targets } = deps;
  return {
    ...deps,
    models: {
      ...models,
      chat: (model, request, options) =>
        tap(
          () => models.chat(model, request, options),
          (seen) => ({ kind: 'model', request, ...seen }),
        ),
    },
    targets: { open: (spec) => tapTarget(targets.open(spec), tap) },
  };
}

function tapTarget(target: Target, tap: Tap): Target {
  return {
    get sessions() {
      return target.sessions;
    },
    start: (call, options) =>
      tap(
        () => target.start(call, options),
        (seen) => ({ kind: 'start', call, ...seen }),
      ),
    reply: (call, options) =>
      tap(
        () => target.reply(call, options),
        (seen) => ({ kind: 'reply', call, ...seen }),
      ),
    end: (call, options) =>
      tap(
        () => target.end(call, options),
        ({ read: _, ...seen }) => ({ kind: 'end', call, ...seen }),
      ),
  };
}

function openDryStretch(deps: Dependencies, input: DryRunInput): Stretch {
  const { scenario, script, spec, signal } = input;
  const { stop: _stop, ...conversation } = spec.conversation;
  const target: TargetSpec = { ...input.target, retries: 1, onLostSession: 'break' };
  const sweep: SweepRecord = {
    schema: 1,
    id: 'dry-run',
    hash: '',
    spec: { ...spec, conversation, checks: [], targets: [target], driver: { kind: 'script', steps: script } },
    planned: { scenarios: 1, variants: 1, runs: 1, shards: 1 },
    inline: true,
    estimateUsd: 0,
    queue: '',
    created: { at: deps.clock.now(), regatta: input.version },
  };
  const named = { scenario: scenario.id, repeat: 1 };
  const run = {
    ...named,
    id: runIdOf({ sweep: sweep.id, ...named }),
    seed: runSeed(spec.seed, scenario.id, 1),
  };
  const signals: Signals = { abort: signal, stop: signal };
  // No wait for another try: what the first one said is what is asked for.
  const ref = { sweep: sweep.id, shard: 0, run: run.id, generation: 1 };
  const stretchInput = { ...ref, stretchMs: Number.MAX_SAFE_INTEGER, longestWaitMs: -1 };
  return openStretch({
    deps,
    signals,
    input: stretchInput,
    plan: { sweep, run, scenario, target },
    journal: forgetfulJournal,
  });
}

const forgetfulJournal: JournalWriter = {
  writer: '0-1-dry',
  folded: { events: [], ignored: [], accepts: {}, writers: 0 },
  append: async () => {},
  flush: async () => {},
  close: async () => {},
};

async function play(stretch: Stretch, signal: AbortSignal): Promise<void> {
  try {
    await playStretch(stretch);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function endSession(stretch: Stretch): Promise<void> {
  const { deps, plan } = stretch;
  if (plan.target.kind === 'chat' || !stretch.now().session.open) return;
  try {
    await deps.targets.open(plan.target).end(targetCallOf(stretch, 0), {
      ...stretch.callOptions(),
      signal: AbortSignal.timeout(partingMs),
    });
  } catch (error) {
    // Its step tells of it.
    if (!(error instanceof Fault)) throw error;
  }
}

const silentMeter: Meter = {
  call: () => {},
  turn: () => {},
  runOpened: () => {},
  runLeft: () => {},
  runEnded: () => {},
};
