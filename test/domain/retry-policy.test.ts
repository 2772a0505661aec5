import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { FaultCode } from '../../domain/fault.ts';
import { type FailedCall, modelPatienceMs, modelTries, nextTry } from '../../domain/retry-policy.ts';

const day = 86_400_000;

function decide(
  call: Partial<FailedCall>,
  limits: { retries?: number; giveUpMs?: number; random?: number } = {},
) {
  const { retries = 3, giveUpMs = day, random = 0 } = limits;
  const failed: FailedCall = {
    code: 'unavailable',
    called: 'model',
    tries: 1,
    failingMs: 0,
    waitedMs: 0,
    retryAfterMs: undefined,
    ...call,
  };
  return nextTry(failed, { targetTries: retries, giveUpMs }, random);
}

/** How many tries a call gets where each takes no time, or so long that time is no reason to go on. */
function triesOf(code: FaultCode, called: FailedCall['called'], failingMs: number, retries = 3): number {
  for (let tries = 1; tries < 100; tries += 1) {
    if (decide({ code, called, tries, failingMs }, { retries }).kind === 'final') return tries;
  }
  return Number.POSITIVE_INFINITY;
}

/** What the published table says of tries, told from what is done. */
function cellFor(code: FaultCode, called: FailedCall['called']): string {
  const [atOnce, patient] = [triesOf(code, called, 0), triesOf(code, called, modelPatienceMs)];
  if (patient === Number.POSITIVE_INFINITY) return 'no limit';
  if (atOnce === Number.POSITIVE_INFINITY) return `${patient} over ${modelPatienceMs / 60_000} min`;
  assert.equal(atOnce, patient);
  return triesOf(code, called, 0, 5) === 5 ? '`retries`' : String(atOnce);
}

/** Every code: one that is missing here does not compile. */
const everyCode = {
  rate_limited: true,
  unavailable: true,
  timed_out: true,
  bad_reply: true,
  denied: true,
  not_found: true,
  invalid_request: true,
  context_full: true,
  content_refused: true,
  too_large: true,
  module_error: true,
  lost_session: true,
  unsure_call: true,
  driver_unfit: true,
  worker_lost: true,
  store_unavailable: true,
  bug: true,
} satisfies Record<FaultCode, true>;
const codes = Object.keys(everyCode) as readonly FaultCode[];

describe('the published table of faults', () => {
  const text = readFileSync(new URL('../../docs/faults.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)];
  const published = new Map(rows.map(([, code, model, target]) => [code, [model, target]]));

  it('has every code, in order', () => {
    assert.deepEqual([...published.keys()], codes);
  });

  for (const code of codes) {
    it(`says what is done about ${code}`, () => {
      assert.deepEqual(published.get(code), [cellFor(code, 'model'), cellFor(code, 'target')]);
    });
  }
});

describe('a call at fault', () => {
  it('of a model is tried for ten minutes, also after eight tries', () => {
    const call = { tries: modelTries, failingMs: modelPatienceMs - 1 };
    assert.equal(decide(call).kind, 'again');
    assert.equal(decide({ ...call, failingMs: modelPatienceMs }).kind, 'final');
    assert.equal(decide({ tries: modelTries - 1, failingMs: modelPatienceMs }).kind, 'again');
  });

  it('is given up after `give_up`, whatever it is', () => {
    for (const code of codes) assert.equal(decide({ code, waitedMs: 10 }, { giveUpMs: 10 }).kind, 'final');
  });

  it('waits twice as long each time, up to a minute', () => {
    const waits = [1, 2, 3, 4, 8, 20, 2_000].map((tries) => decide({ tries }, { random: 1 }));
    assert.deepEqual(
      waits.map((next) => (next.kind === 'again' ? next.waitMs : undefined)),
      [500, 1_000, 2_000, 4_000, 60_000, 60_000, 60_000],
    );
  });

  it('waits between half and the whole of it, by chance', () => {
    assert.deepEqual(decide({}, { random: 0 }), { kind: 'again', waitMs: 250 });
    assert.deepEqual(decide({}, { random: 0.5 }), { kind: 'again', waitMs: 375 });
  });

  it('waits for as long as the other side asks, at least', () => {
    assert.deepEqual(decide({ retryAfterMs: 9_000 }), { kind: 'again', waitMs: 9_000 });
    assert.deepEqual(decide({ retryAfterMs: 1 }), { kind: 'again', waitMs: 250 });
  });

  it('that was refused waits exactly as long as it was asked to, else longer with each refusal', () => {
    const refused = (more: Partial<FailedCall>) =>
      decide({ code: 'rate_limited', tries: 0, ...more }, { random: 1 });
    assert.deepEqual(refused({ retryAfterMs: 3 }), { kind: 'again', waitMs: 3 });
    assert.deepEqual(refused({ refusals: 1 }), { kind: 'again', waitMs: 500 });
    assert.deepEqual(refused({ refusals: 4 }), { kind: 'again', waitMs: 4_000 });
  });
});
