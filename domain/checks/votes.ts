import type { CheckSpec } from '../check.ts';
import type { VoteEvent } from '../journal.ts';
import { shorten } from './quote.ts';
import { type CheckAnswer, decide, undecided, verdictOn } from './verdict.ts';

/** One vote of a judge. */
export type Vote = Pick<VoteEvent, 'score' | 'reason' | 'fault'>;

/** A vote with a score in it. */
type Scored = Vote & { readonly score: number };

/**
 * What the votes of one judge come to: the median on a scale, else the score with the most votes. Undecided where
 * fewer than half could be read and where there is a tie: as many votes for another score, or, on a scale with an
 * even number of votes, the middle two on different sides of the pass mark.
 */
export function combineVotes(
  check: Extract<CheckSpec, { kind: 'judge' }>,
  votes: readonly Vote[],
): CheckAnswer {
  const scored = votes.filter((vote): vote is Scored => vote.score !== undefined);
  if (scored.length === 0 || scored.length * 2 < votes.length) return unread(votes, scored.length);
  const score = check.answer.kind === 'scale' ? median(check, scored) : mostVoted(scored);
  if (score === undefined)
    return undecided(`the votes are tied: ${scored.map((vote) => vote.score).join(', ')}`);
  return decide(check, { score, reason: reasonFor(score, scored, votes.length) });
}

function unread(votes: readonly Vote[], readable: number): CheckAnswer {
  const fault = votes.find((vote) => vote.fault !== undefined);
  const first = fault ?? votes.find((vote) => vote.score === undefined);
  const count = votes.length === 1 ? '' : `${readable} of ${votes.length} votes could be read; `;
  return undecided(`${count}${first?.reason ?? 'nobody voted'}`, fault?.fault);
}

function median(check: CheckSpec, scored: readonly Scored[]): number | undefined {
  const scores = scored.map((vote) => vote.score).toSorted((a, b) => a - b);
  const low = scores[Math.floor((scores.length - 1) / 2)] ?? 0;
  const high = scores[Math.floor(scores.length / 2)] ?? 0;
  return verdictOn(check, low) === verdictOn(check, high) ? (low + high) / 2 : undefined;
}

function mostVoted(scored: readonly Scored[]): number | undefined {
  const counts = [...new Set(scored.map((vote) => vote.score))]
    .map((score) => ({ score, count: scored.filter((vote) => vote.score === score).length }))
    .toSorted((a, b) => b.count - a.count);
  const [first, second] = counts;
  return first !== undefined && first.count > (second?.count ?? 0) ? first.score : undefined;
}

/** The words of the vote that is closest to the result, after how many agreed with it. */
function reasonFor(score: number, scored: readonly Scored[], votes: number): string {
  const closest = scored.reduce((a, b) => (Math.abs(b.score - score) < Math.abs(a.score - score) ? b : a));
  if (votes === 1) return closest.reason;
  const agreed = scored.filter((vote) => vote.score === score).length;
  return `${agreed} of ${votes} votes for ${score}: ${shorten(closest.reason)}`;
}
