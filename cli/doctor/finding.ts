import { describeFailure, exitCodes } from '../exit-codes.ts';

/** What a look at one thing came to. */
export type Finding = {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
};

export type Failed = Finding & { readonly status: 'fail'; readonly exitCode: number };

/** A failed check of something that was thrown: out of reach (5), or wrong (2). */
export function failedBy(check: string, error: unknown, hint?: string): Failed {
  const failure = describeFailure(error);
  const isAway = failure.kind === 'unreachable';
  const message = failure.kind === 'bug' && error instanceof Error ? error.message : failure.message;
  const told = hint ?? failure.hint;
  return {
    ...{ check, status: 'fail', message },
    ...(told === '' ? {} : { hint: told }),
    exitCode: isAway ? exitCodes.unreachable : exitCodes.usage,
  };
}

/** The exit code of the first check that failed; 0 where none did. */
export function exitOf(findings: readonly (Finding | Failed)[]): number {
  for (const finding of findings) if ('exitCode' in finding) return finding.exitCode;
  return exitCodes.done;
}
