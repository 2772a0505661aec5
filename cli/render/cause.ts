import type { Failure } from '../../domain/scenario-row.ts';

/** `turn 3, refunded: none of "refunded" was said`. */
export function causeText({ turn, check, reason }: Pick<Failure, 'turn' | 'check' | 'reason'>): string {
  const place = [...(turn === undefined ? [] : [`turn ${turn}`]), ...(check === undefined ? [] : [check])];
  return place.length === 0 ? reason : `${place.join(', ')}: ${reason}`;
}
