import type { LogMetadata, Logger as TemporalLogger } from '@temporalio/worker';
import { type Logger, pino } from 'pino';

export type { Logger };

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogOptions = {
  readonly level: LogLevel;
  readonly output: { write(text: string): unknown };
  /** Hides values of secrets. */
  readonly redact: (text: string) => string;
};

/** Longer texts are cut: an error may quote what came back. */
const longestText = 500;

/** A log for operators: one JSON object a line, with time and level in words; never transcripts, never secrets. */
export function createLog({ level, output, redact }: LogOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    // Over the whole line: a secret may hide in a message, in an error, in a stack.
    { write: (line) => void output.write(redact(line)) },
  );
}

/** Temporal's own messages in the worker's log. */
export function temporalLogger(log: Logger): TemporalLogger {
  const writer = (level: LogLevel) => (message: string, meta?: LogMetadata) =>
    log[level](factsOf(meta), message);
  const writers = {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
  return {
    ...writers,
    log: (level, message, meta) => writers[levelNames[level]](message, meta),
  };
}

const levelNames = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Ids, counts and errors; whole objects may be payloads, and those hold what people said. */
function factsOf(meta: LogMetadata = {}): Record<string, unknown> {
  const facts = Object.entries(meta).flatMap(([name, value]) => {
    const fact = factOf(value);
    return fact === undefined ? [] : [[factName(name), fact]];
  });
  return Object.fromEntries(facts);
}

/** A run here is a conversation; Temporal's is one execution of a workflow. */
function factName(name: string): string {
  return name === 'runId' ? 'executionId' : name;
}

function factOf(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.slice(0, longestText);
    case 'bigint':
      return String(value);
    case 'number':
    case 'boolean':
      return value;
    default:
      return value instanceof Error ? value : undefined;
  }
}

type ErrorFacts = {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorFacts;
};

function describeError(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { name: 'unknown', message: String(error).slice(0, longestText) };
  const { name, message, stack, cause } = error;
  // The frames alone: a stack begins with the message, which may be long.
  const frames = stack?.match(/^ {4}at .*$/gm)?.slice(0, 10);
  return {
    name,
    message: message.slice(0, longestText),
    ...(frames === undefined ? {} : { stack: frames.join('\n') }),
    ...(cause instanceof Error && depth < 3 ? { cause: describeError(cause, depth + 1) } : {}),
  };
}
