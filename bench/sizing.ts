/** What a sweep asks for. Times in seconds, one endpoint for all calls. */
export type Need = {
  readonly runs: number;
  readonly turns: number;
  /** Calls of models in a turn: 2 where driver and target are models. */
  readonly callsPerTurn: number;
  /** Calls of judges after the conversation. */
  readonly judgeCalls: number;
  readonly secondsPerCall: number;
  readonly tokensPerCall: number;
  /** What the provider allows. */
  readonly rpm: number;
  readonly tpm: number;
  readonly maxInFlight: number;
};

/** What it takes. */
export type Sizing = {
  readonly calls: number;
  /** What the provider's limits come to. */
  readonly callsPerSecond: number;
  /** The window (`concurrency`) that uses them up: more only waits. */
  readonly window: number;
  readonly hours: number;
  /** Activity workers. */
  readonly pods: number;
  readonly workerCores: number;
  readonly actions: number;
  readonly actionsPerSecond: number;
  /** Requests to a bucket that cost as writes (puts, lists) and as reads (gets); deletes are free. */
  readonly storeWrites: number;
  readonly storeReads: number;
  readonly storeGb: number;
};

/** Slots of a pod and the part of them that should be in use: the defaults of the chart. */
export const podSlots = { slots: 256, utilisation: 0.8 } as const;

/** A worker beats every 5 s from the fifth on, and each beat is an action. */
const secondsPerBeat = 5;
/** Limits of an activity that plays: 5 minutes, or 30 where the shard plays its runs itself. */
const stretchSeconds = { apart: 300, inline: 1_800 } as const;
/** Processor seconds, of docs/benchmarks.md: 1,000 conversations of 10 calls take 3 to 5 s inline, 11 to 19 s apart. */
const cpu = { call: 0.000_5, runApart: 0.012 } as const;
/** From where on a shard plays its runs itself, and how many it has. */
const inlineAbove = 500;
const shardOf = { apart: 500, inline: 1_000 } as const;
/** Bytes of a journal and its result without words, and of one turn with two messages of a few sentences. */
const bytes = { run: 3_000, turn: 1_000 } as const;

/** What a sweep takes: by Little's law, a window is the calls a second times the seconds of a call. */
export function sizeFleet(need: Need): Sizing {
  const calls = need.runs * (need.turns * need.callsPerTurn + need.judgeCalls);
  const ceiling = Math.min(
    need.rpm / 60,
    need.tpm / 60 / need.tokensPerCall,
    need.maxInFlight / need.secondsPerCall,
  );
  const window = Math.min(need.runs, Math.ceil(ceiling * need.secondsPerCall));
  // The last conversations end alone: one whole conversation more.
  const seconds = calls / Math.min(ceiling, window / need.secondsPerCall) + secondsOfRun(need);
  const actions = actionsOf(need);
  const cpuSeconds = calls * cpu.call + need.runs * (isInline(need) ? 0 : cpu.runApart);
  const workerCores = cpuSeconds / seconds;
  const journal = journalOf(need);
  return {
    calls,
    callsPerSecond: ceiling,
    window,
    hours: seconds / 3600,
    pods: Math.max(Math.ceil(window / (podSlots.slots * podSlots.utilisation)), Math.ceil(workerCores / 0.7)),
    workerCores,
    actions,
    actionsPerSecond: actions / seconds,
    storeWrites: need.runs * journal.writes + 5 * shardsOf(need),
    storeReads: need.runs * journal.reads + 5 * shardsOf(need),
    storeGb: (need.runs * (bytes.run + need.turns * bytes.turn)) / 1e9,
  };
}

/**
 * Temporal's billable actions. A sweep: its start, three activities, a timer, a signal of progress for each hundredth.
 * A shard: its start as a child (two), two activities, two signals. A run: its start as a child where it is apart; its
 * stretches and their beats; where a judge scores it, one more.
 */
export function actionsOf(need: Need): number {
  const kind = isInline(need) ? 'inline' : 'apart';
  const conversation = secondsOfRun({ ...need, judgeCalls: 0 });
  const scoring = need.judgeCalls * need.secondsPerCall;
  const stretches = Math.max(1, Math.ceil(conversation / stretchSeconds[kind]));
  const beats = Math.floor(conversation / secondsPerBeat) + Math.floor(scoring / secondsPerBeat);
  const run = (kind === 'apart' ? 2 : 0) + stretches + (need.judgeCalls > 0 ? 1 : 0) + beats;
  return 5 + Math.min(need.runs, 100) + 6 * shardsOf(need) + need.runs * run;
}

/** Requests for a run's journal: an append a message and a few around them; parts are joined when they end. */
function journalOf({ turns, judgeCalls }: Need): { readonly writes: number; readonly reads: number } {
  const isScored = judgeCalls > 0;
  const appends = 2 * turns + (isScored ? 8 : 4);
  const parts = isScored ? 2 : 1;
  // Each part is joined by a put and begins with a listing; the result is one more put.
  return { writes: appends + 2 * parts + 1, reads: parts };
}

function secondsOfRun({ turns, callsPerTurn, judgeCalls, secondsPerCall }: Need): number {
  return (turns * callsPerTurn + judgeCalls) * secondsPerCall;
}

function isInline({ runs }: Need): boolean {
  return runs > inlineAbove;
}

function shardsOf(need: Need): number {
  return Math.ceil(need.runs / shardOf[isInline(need) ? 'inline' : 'apart']);
}

/** The examples of docs/sizing.md: eight turns, two calls each, and a judge. */
const conversation = {
  turns: 8,
  callsPerTurn: 2,
  judgeCalls: 1,
  secondsPerCall: 4,
  tokensPerCall: 1_000,
} as const;

export const examples: readonly Need[] = [
  { ...conversation, runs: 1_000, rpm: 500, tpm: 500_000, maxInFlight: 256 },
  { ...conversation, runs: 100_000, rpm: 10_000, tpm: 10_000_000, maxInFlight: 1_000 },
  { ...conversation, runs: 1_000_000, rpm: 60_000, tpm: 60_000_000, maxInFlight: 5_000 },
];

/** The examples as rows of a Markdown table. */
export function exampleRows(): readonly string[] {
  return examples.map((need) => {
    const size = sizeFleet(need);
    const cells = [
      need.runs.toLocaleString('en'),
      `${need.rpm.toLocaleString('en')} / ${short(need.tpm)} / ${need.maxInFlight.toLocaleString('en')}`,
      short(size.calls),
      size.callsPerSecond.toFixed(1),
      size.window.toLocaleString('en'),
      size.hours.toFixed(1),
      String(size.pods),
      size.workerCores.toFixed(2),
      `${short(size.actions)} (${size.actionsPerSecond.toFixed(0)}/s)`,
      `${short(size.storeWrites)} / ${short(size.storeReads)}`,
      size.storeGb < 1 ? size.storeGb.toFixed(2) : size.storeGb.toFixed(0),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

function short(number: number): string {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return number >= 1e4 ? `${(number / 1e3).toFixed(0)} k` : String(number);
}
