import type { CheckSpec } from '../domain/check.ts';
import type { CheckSet } from '../domain/check-set.ts';
import type { FaultCode } from '../domain/fault.ts';
import type { FoldedJournal, JournalEvent } from '../domain/journal.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { RunResult } from '../domain/run.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ShardRecord, SweepRecord } from '../domain/sweep-record.ts';
import type { ModelSpec, ModuleRef, TargetSpec } from '../domain/sweep-spec.ts';
import type { ToolCall, Transcript } from '../domain/transcript.ts';
import type { Role, TokenUsage } from '../domain/usage.ts';

// ---- Time -----------------------------------------------------------------------------------------------------

export type Clock = {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

// ---- Models ---------------------------------------------------------------------------------------------------

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly AskedToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

/** A tool call that a model asked for. `args` is absent where the text could not be parsed (cut off). */
export type AskedToolCall = {
  readonly id: string;
  readonly name: string;
  readonly args?: JsonObject;
  readonly argsText: string;
};

export type ChatTool = { readonly name: string; readonly description?: string; readonly schema: JsonObject };

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  /** Force this tool. */
  readonly toolChoice?: string;
  /** Ask for an answer that fits this JSON Schema. */
  readonly answerSchema?: { readonly name: string; readonly schema: JsonObject };
  readonly temperature?: number;
  /** Drop the temperature where the endpoint answers 400 and names it. */
  readonly temperatureOptional?: boolean;
  readonly seed?: number;
  readonly maxTokens?: number;
};

export type ChatReply = {
  /** Never a thought of the model; empty where there was none. */
  readonly text: string;
  readonly toolCalls: readonly AskedToolCall[];
  readonly usage: TokenUsage;
  readonly costUsd: number;
  /** Time of the successful call, without waiting for the pace. */
  readonly ms: number;
  /** Parameters that the endpoint refused and that were left out. */
  readonly dropped: readonly string[];
};

export type CallOptions = {
  readonly signal: AbortSignal;
  /** The whole call, body included. */
  readonly timeoutMs: number;
  /** Calls of older runs go first: epoch milliseconds at which the run opened. */
  readonly order: number;
  readonly idempotencyKey?: string;
};

/**
 * Models behind endpoints. `chat` makes exactly one try (waiting for the endpoint's pace first) and throws `Fault`:
 * rate_limited, unavailable, timed_out, bad_reply, denied, not_found, invalid_request, context_full,
 * content_refused, too_large. It rejects with the signal's reason where that is aborted.
 */
export type ChatModels = {
  chat(model: ModelSpec, request: ChatRequest, options: CallOptions): Promise<ChatReply>;
  /** Asks an endpoint for at most 16 tokens. Throws as `chat` does; returns a warning where it is alive but odd. */
  probe(
    model: ModelSpec,
    options: CallOptions,
  ): Promise<{ readonly warning?: string; readonly calls: number }>;
  /** What the endpoint is known to be able to do, learned from its refusals. */
  abilities(model: ModelSpec): { readonly tools: boolean; readonly answerSchema: boolean };
};

// ---- Targets --------------------------------------------------------------------------------------------------

/** What a target call may know; the template variables of HTTP targets are made of it. */
export type TargetCall = {
  readonly runId: string;
  readonly scenario: Scenario;
  readonly repeat: number;
  readonly seed: number;
  readonly turn: number;
  readonly transcript: Transcript;
  readonly latestMessage?: string;
  readonly sessionId?: string;
  /** `<run>/<generation>/<message index>` */
  readonly idempotencyKey: string;
};

export type TargetReply = {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly sessionId?: string;
  /** The target hung up with this reply. */
  readonly end?: boolean;
  readonly metadata?: JsonObject;
  /** Time of the successful call, without waiting for `max_parallel_requests`. */
  readonly ms: number;
};

export type SessionStart = {
  readonly sessionId?: string;
  readonly greeting?: TargetReply;
  readonly ms: number;
};

/** A target that is not a chat model. Makes exactly one try and throws `Fault` with blame target (or infrastructure, configuration). */
export type Target = {
  /**
   * Whether a session (memory of its own that outlives a call) is opened by `start`, before the first message. May
   * turn out not to be so with the first `start`. A reply may bring a session id either way.
   */
  readonly sessions: boolean;
  start(call: TargetCall, options: CallOptions): Promise<SessionStart>;
  reply(call: TargetCall, options: CallOptions): Promise<TargetReply>;
  /** Closes a session; resolves also where the target has none to close. */
  end(call: TargetCall, options: CallOptions): Promise<void>;
};

export type Targets = { open(target: Exclude<TargetSpec, { readonly kind: 'chat' }>): Target };

// ---- User modules ---------------------------------------------------------------------------------------------

/** Runs exported functions of the project's modules in worker threads, within memory and time limits. */
export type Modules = {
  /**
   * Calls `module.<name>(input)`; input and answer are JSON. Throws `Fault` module_error (the user's stack kept; blame
   * as given) or configuration faults (missing file, other content than planned, no such export).
   */
  call(
    module: ModuleRef,
    name: string,
    input: Json,
    options: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly blame: 'target' | 'judge' | 'configuration';
    },
  ): Promise<Json | undefined>;
  /** Proves that this worker has the module, with the planned content. Throws a configuration `Fault`. */
  prove(module: ModuleRef): Promise<void>;
};

/** Compiles a user's pattern on a linear-time engine; throws an Error that names the mistake. */
export type CompileRegex = (
  pattern: string,
  flags: { readonly ignoreCase: boolean },
) => { test(text: string): boolean };

/** SHA-256 in hex. */
export type Hash = (text: string) => string;

// ---- The store ------------------------------------------------------------------------------------------------

/** A journal opened for writing by one writer. */
export type JournalWriter = {
  readonly writer: string;
  /** What held when it was opened; this writer's own `resumed` is not in it. */
  readonly folded: FoldedJournal;
  /** Resolves when the events are durable against a crash of the process. Events are stamped by the caller. */
  append(events: readonly JournalEvent[]): Promise<void>;
  /** Resolves when they are durable against a crash of the machine. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/**
 * Where plans, journals, results and reports lie. Every method throws `Fault` store_unavailable (naming the path)
 * where the store is out of reach, full or not writable.
 */
export type Store = {
  /** Where it is, for people. */
  readonly address: string;
  createSweep(record: SweepRecord, shards: readonly ShardRecord[]): Promise<'created' | 'exists'>;
  /** The sweep as it is judged now: with the check sets that came after its plan. */
  readSweep(sweep: string): Promise<SweepRecord | undefined>;
  /** Put-if-absent by number, which must be the next: false where there is one of that number. */
  putCheckSet(sweep: string, checkSet: CheckSet): Promise<boolean>;
  listSweeps(): Promise<readonly string[]>;
  readShard(sweep: string, shard: number): Promise<ShardRecord>;
  /** Also a fault: a later writer has this journal, so that everything this one adds would be ignored. */
  openJournal(run: string, writer: string): Promise<JournalWriter>;
  readJournal(run: string): Promise<FoldedJournal>;
  /** Put-if-absent by run and generation: false where there was one already. */
  putResult(result: RunResult): Promise<boolean>;
  /** The result of the highest generation. */
  readResult(run: string): Promise<RunResult | undefined>;
  /** Writes `results/<shard>.jsonl` anew. */
  putShardResults(sweep: string, shard: number, results: readonly RunResult[]): Promise<void>;
  /** The results of a shard: the compacted ones, with newer result files put in their place. */
  readShardResults(sweep: string, shard: ShardRecord): Promise<readonly RunResult[]>;
  putReport(sweep: string, report: Json): Promise<void>;
  readReport(sweep: string): Promise<Json | undefined>;
  /** How many bytes a sweep takes; 0 where there is none. */
  sizeOfSweep(sweep: string): Promise<number>;
  /** Removes a sweep with all its runs: a crash leaves nothing that looks like a sweep. Nothing may play it. */
  removeSweep(sweep: string): Promise<void>;
  /** Removes what crashes left before a time (epoch milliseconds); returns how many bytes that freed. */
  removeLeftovers(before: number): Promise<number>;
  /** Writes, reads back and deletes a small file: throws where that fails. */
  probe(): Promise<void>;
};

// ---- Watching -------------------------------------------------------------------------------------------------

export type CallRecord = {
  readonly role: Role;
  readonly model: string;
  readonly code: 'ok' | FaultCode;
  readonly ms: number;
  readonly usage?: TokenUsage;
  readonly costUsd: number;
};

/** Where activities report what they did; `workers/metrics.ts` makes Prometheus metrics of it. */
export type Meter = {
  call(record: CallRecord): void;
  turn(sweep: string): void;
  runOpened(): void;
  /** The stretch was left (ended, drained, waiting). */
  runLeft(): void;
  runEnded(sweep: string, result: RunResult): void;
};

/** Holds calls back while this worker does not reach Temporal. */
export type Contact = {
  hold(signal: AbortSignal): Promise<void>;
  /** Whether `hold` would let a call go at once: asked again where one had to wait for its turn after it was held. */
  mayCall(): boolean;
};

/** Everything that the activities need from outside. */
export type Dependencies = {
  readonly clock: Clock;
  readonly models: ChatModels;
  readonly targets: Targets;
  readonly modules: Modules;
  readonly compileRegex: CompileRegex;
  readonly hash: Hash;
  readonly store: Store;
  readonly meter: Meter;
  readonly contact: Contact;
  /** Aborted when this worker shuts down: stretches return after the message in flight. */
  readonly drain: AbortSignal;
  /** Throws a configuration `Fault` where a name may not be resolved or is not set. */
  readonly proveEnv: (names: readonly string[]) => void;
  /** A random text of this attempt: part of the writer's name. */
  readonly nonce: () => string;
  readonly version: string;
};

/** Where a sweep is kept, as every activity of it is told. */
export type OnStore = {
  /** A folder or `s3://BUCKET/PREFIX`; absent: the worker's own, for sweeps that were started before this was told. */
  readonly store?: string | undefined;
};

/** What the activities of a worker need: each sweep says in which store it is. */
export type WorkerDependencies = Omit<Dependencies, 'store'> & {
  /** Throws a `Fault` where this worker may not open that store, or finds none there. */
  readonly openStore: (address: OnStore['store']) => Store;
  /** How this worker names itself to Temporal. */
  readonly identity: string;
};

export type { CheckSpec, ShardRecord, SweepRecord };
