import type { CheckSpec } from './check.ts';
import type { Json, JsonObject } from './json.ts';
import type { Threshold } from './threshold.ts';

/**
 * A sweep, fully resolved: defaults filled in, flags applied, files read. Secrets are `${NAME}` references.
 * The scenarios lie beside it, in the shards.
 */
export type SweepSpec = {
  readonly schema: 1;
  readonly name: string;
  readonly models: Readonly<Record<string, ModelSpec>>;
  readonly driver: DriverSpec;
  /** One, or one a variant; ids are unique. */
  readonly targets: readonly TargetSpec[];
  readonly conversation: ConversationSpec;
  readonly repeats: number;
  readonly checks: readonly CheckSpec[];
  readonly thresholds: readonly Threshold[];
  /** The share of missing runs up to which unbounded metrics are still decided; default 0.01. */
  readonly allowMissing: number;
  /** The window: how many runs are open at once; default 50. */
  readonly concurrency: number;
  readonly budgetUsd?: number;
  readonly timeouts: Timeouts;
  readonly seed: number;
  /** Names of the environment variables that the sweep refers to. */
  readonly env: readonly string[];
};

/** A TypeScript file of the project; `file` is relative to the project folder, with forward slashes. */
export type ModuleRef = {
  readonly file: string;
  /** SHA-256 over the file and its relative imports, in hex. */
  readonly sha256: string;
};

/** A model behind an OpenAI-compatible endpoint. */
export type ModelSpec = {
  /** Its key in `models`. */
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string;
  /** `${NAME}`, or absent for servers without keys. */
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as written, with every request. */
  readonly params: JsonObject;
  readonly rpm?: number;
  readonly tpm?: number;
  /** Default 256. */
  readonly maxInFlight: number;
  /** USD per million tokens; absent: unknown, or free where both are 0. */
  readonly price?: { readonly input: number; readonly output: number };
};

export type ScriptStep =
  | { readonly kind: 'say'; readonly text: string }
  /** `turns` turns by the driver's model. */
  | { readonly kind: 'drive'; readonly turns: number };

export type DriverModel = {
  readonly model: string;
  readonly prompt: string;
  readonly temperature: number;
  /** Whether the temperature was written in the file (a default is dropped where an endpoint refuses it). */
  readonly temperatureGiven: boolean;
  /** Whether the managed block is added to the prompt. */
  readonly managed: boolean;
  /** A judge of `models` that says whether the driver kept to its brief. */
  readonly faithful?: string;
};

export type DriverSpec =
  | ({ readonly kind: 'model' } & DriverModel)
  | { readonly kind: 'script'; readonly steps: readonly ScriptStep[]; readonly drive?: DriverModel }
  /** Single-turn rows: the input is the only driver message. */
  | { readonly kind: 'none' };

export type HttpRequestSpec = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A template: text, or a structure whose strings are templates. */
  readonly body?: Json;
  /** The status that must come back; absent: any 2xx. */
  readonly status?: number;
};

/** A value to be found in a stream: `true` and `false` are booleans, `*` is anything but null, else exact text. */
export type StreamRule = { readonly value: string; readonly path?: string };

/** How an answer that comes as a stream of events (SSE) or of JSON lines is read. */
export type StreamRules =
  /** Any `stop` ends it (without a path: the payload as it came); every `select` must hold for a chunk to count. */
  | { readonly kind: 'rules'; readonly stop: readonly StreamRule[]; readonly select: readonly StreamRule[] }
  /** The events of a chat endpoint: text deltas, items, errors, thread id. */
  | { readonly kind: 'chat_events' };

export type HttpStart = HttpRequestSpec & {
  readonly sessionId?: string;
  readonly greeting?: string;
  readonly streaming?: StreamRules;
};
export type HttpSend = HttpRequestSpec & {
  /** Of a stream: where each chunk holds its piece of the text. */
  readonly reply: string;
  readonly streaming?: StreamRules;
  readonly toolCalls?: string;
  readonly sessionId?: string;
  readonly metadata?: string;
};
export type HttpAuth = HttpRequestSpec & {
  readonly accessToken: string;
  /** Where the answer holds the seconds that the token is good for; a token without them is kept until it is refused. */
  readonly expiresIn?: string;
};

export type ToolSpec = {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
  readonly module: ModuleRef;
};

export type ChatTarget = {
  readonly kind: 'chat';
  readonly model: string;
  readonly system?: string;
  /** Wraps each driver message; default `{latest_message}`. */
  readonly user?: string;
  /** Messages put before the conversation. */
  readonly dialog: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly temperature?: number;
  readonly tools: readonly ToolSpec[];
  readonly maxToolSteps: number;
};

export type HttpTarget = {
  readonly kind: 'http';
  readonly auth?: HttpAuth;
  readonly start?: HttpStart;
  readonly send: HttpSend;
  readonly end?: HttpRequestSpec;
};

export type ModuleTarget = {
  readonly kind: 'module';
  readonly module: ModuleRef;
  /** What it is asked: to reply in a conversation (default), to answer one input, or a batch of them. */
  readonly calls?: 'conversation' | 'single' | 'batch';
  /** Inputs of one batch at most; default 1. */
  readonly batchSize?: number;
};

/** Fixed replies, one a turn; the last one is repeated. */
export type ScriptTarget = { readonly kind: 'script'; readonly replies: readonly string[] };

/** Replies that a worker of any Temporal SDK gives, on the task queue `target.<queue>`. */
export type QueueTarget = { readonly kind: 'queue'; readonly queue: string };

export type TargetKind = ChatTarget | HttpTarget | ModuleTarget | QueueTarget | ScriptTarget;

/** The system under test. */
export type TargetSpec = TargetKind & {
  /** Its name among `targets:`; absent for a single `target:`. */
  readonly variant?: string;
  /** Tries of a call to a target that is not a chat model; default 3. */
  readonly retries: number;
  readonly idempotent: boolean;
  readonly onUnsureTurn: 'restart' | 'resend' | 'break';
  readonly onLostSession: 'restart' | 'break';
  readonly targetFaults: 'failed' | 'broken';
  readonly maxParallelRequests?: number;
};

export type ConversationSpec = {
  readonly first: 'driver' | 'target';
  readonly maxTurns: number;
  readonly stop?: { readonly check: string; readonly on: 'pass' | 'fail' };
};

/** All in milliseconds. */
export type Timeouts = {
  /** One call; default 120 s. */
  readonly callMs: number;
  /** Play time of a run: the sum of its successful calls; default 30 min. */
  readonly runMs: number;
  /** Attended time after which a run that cannot go on is broken; default 24 h. */
  readonly giveUpMs: number;
  /** Wall time of the sweep; default 7 d. */
  readonly sweepMs: number;
  /** How long one activity plays before it reports back; absent: 5 min, 30 min for a run that its shard plays. */
  readonly stretchMs?: number;
};

/** The target of a variant. Throws where the sweep has none of that name (a bug: plans name only what is there). */
export function targetOf(spec: SweepSpec, variant: string | undefined): TargetSpec {
  const target = spec.targets.find((candidate) => candidate.variant === variant);
  if (target === undefined) throw new Error(`no target for variant ${variant ?? '(none)'}`);
  return target;
}
