import type { Context } from '@temporalio/activity';

/** The name of an attempt's part of the journal: `<scheduled ms>-<attempt>-<nonce>`; parts fold in that order. */
export function writerOf(info: Context['info'], nonce: string): string {
  return `${info.currentAttemptScheduledTimestampMs}-${info.attempt}-${nonce}`;
}
