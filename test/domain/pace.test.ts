import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  afterReturn,
  afterSending,
  changeLimits,
  expectTokens,
  isShort,
  leaseLimits,
  limitOf,
  type Pace,
  type PaceLimits,
  type PaceOutcome,
  type SentCall,
  shareLimits,
  startPace,
  waitOf,
} from '../../domain/pace.ts';

const served: PaceOutcome = { kind: 'served', tokens: 0 };
const refused = (retryAfterMs?: number): PaceOutcome => ({ kind: 'refused', retryAfterMs });

const aPace = (limits: Partial<PaceLimits> = {}): Pace =>
  startPace({ ...shareLimits({ maxInFlight: 256 }, 1), ...limits }, 0);

/** Sends as many calls as may be sent at a time, at most `most`. */
function sendAll(
  pace: Pace,
  now: number,
  most = Number.POSITIVE_INFINITY,
): { pace: Pace; sent: readonly SentCall[] } {
  let next = pace;
  const sent: SentCall[] = [];
  while (sent.length < most && waitOf(next, now) === 0) {
    sent.push({ number: next.next, tokens: 0 });
    next = afterSending(next, 0, now);
  }
  return { pace: next, sent };
}

/** A round trip: all that may be sent comes back, each with an outcome, while many wait. */
function roundTrip(pace: Pace, now: number, outcome: (index: number) => PaceOutcome): Pace {
  const { pace: full, sent } = sendAll(pace, now);
  return sent.reduce((one, call, index) => afterReturn(one, call, outcome(index), 1000, now), full);
}

test('the first calls start with 32 in flight, or with the ceiling', () => {
  assert.equal(sendAll(aPace(), 0).sent.length, 32);
  assert.equal(sendAll(startPace(shareLimits({ maxInFlight: 5 }, 1), 0), 0).sent.length, 5);
});

test('a full endpoint is waited for until a call comes back', () => {
  const { pace, sent } = sendAll(aPace(), 0);
  assert.equal(waitOf(pace, 0), undefined);
  const [first] = sent;
  assert.ok(first);
  assert.equal(waitOf(afterReturn(pace, first, served, 0, 0), 0), 0);
});

test('until the first refusal the limit doubles with each round trip, up to the ceiling', () => {
  const limits: number[] = [];
  let pace = aPace();
  for (let trip = 0; trip < 5; trip++) {
    limits.push(pace.limit);
    pace = roundTrip(pace, trip * 200, () => served);
  }
  assert.deepEqual(limits, [32, 64, 128, 256, 256]);
});

test('the limit does not grow where nobody needs it', () => {
  let pace = aPace();
  for (let trip = 0; trip < 5; trip++) {
    const { pace: some, sent } = sendAll(pace, trip, 10);
    pace = sent.reduce((one, call) => afterReturn(one, call, served, 0, trip), some);
  }
  assert.equal(pace.limit, 32);
});

test('a burst of refusals cuts the limit once, to seven tenths', () => {
  const pace = roundTrip(aPace(), 0, () => refused(1000));
  assert.equal(Math.floor(pace.limit), 22);
});

test('after the first refusal the limit grows by a twentieth with each round trip', () => {
  let pace = roundTrip(aPace(), 0, (index) => (index === 0 ? refused(10) : served));
  const before = pace.limit;
  pace = roundTrip(pace, 1000, () => served);
  assert.ok(pace.limit > before * 1.04 && pace.limit < before * 1.06);
});

test('the limit is never cut below eight, nor below a ceiling that is lower', () => {
  for (const [maxInFlight, floor] of [
    [256, 8],
    [3, 3],
  ] as const) {
    let pace = startPace(shareLimits({ maxInFlight }, 1), 0);
    for (let trip = 0; trip < 50; trip++) pace = roundTrip(pace, trip * 100_000, () => refused(1));
    assert.equal(pace.limit, floor);
  }
});

test('an endpoint that refuses everything is left alone for as long as it asked', () => {
  const pace = roundTrip(aPace(), 0, () => refused(2000));
  assert.equal(waitOf(pace, 500), 1500);
  assert.equal(waitOf(pace, 2000), 0);
});

test('without a time the cooldown doubles, up to half a minute', () => {
  const waits: (number | undefined)[] = [];
  let pace = aPace();
  let now = 0;
  for (let trip = 0; trip < 9; trip++) {
    pace = roundTrip(pace, now, () => refused());
    waits.push(waitOf(pace, now));
    now = pace.coolUntil;
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('a single refusal among served calls holds nobody else back', () => {
  const { pace, sent } = sendAll(aPace(), 0);
  const [, second] = sent;
  assert.ok(second);
  assert.equal(waitOf(afterReturn({ ...pace, limit: 64 }, second, refused(5000), 0, 0), 0), 0);
});

test('a call that was sent after the refused ones and is served ends the cooldown', () => {
  const { pace, sent } = sendAll(aPace(), 0, 5);
  let next = pace;
  for (const call of sent.slice(0, 3)) next = afterReturn(next, call, refused(9000), 0, 0);
  assert.equal(waitOf(next, 0), 9000);
  const [, , , , last] = sent;
  assert.ok(last);
  assert.equal(waitOf(afterReturn(next, last, served, 0, 10), 10), 0);
});

test('a lone call that is refused cools the endpoint down', () => {
  const { pace, sent } = sendAll(aPace(), 0, 1);
  const [only] = sent;
  assert.ok(only);
  assert.equal(waitOf(afterReturn(pace, only, refused(3000), 0, 0), 0), 3000);
});

test('failed calls change nothing but who is in flight', () => {
  const { pace, sent } = sendAll(aPace(), 0);
  const back = sent.reduce((one, call) => afterReturn(one, call, { kind: 'failed' }, 9, 0), pace);
  assert.deepEqual([back.limit, back.inFlight, back.coolUntil], [32, 0, 0]);
});

test('an endpoint that refuses every tenth call whatever we do is not cut down to the floor', () => {
  let pace = aPace();
  for (let trip = 0; trip < 200; trip++)
    pace = roundTrip(pace, trip * 200, (index) => (index % 10 === 7 ? refused(1000) : served));
  assert.ok(pace.limit >= 16, `limit ${pace.limit}`);
});

test('an endpoint with room for 50 is kept near 50', () => {
  let pace = aPace();
  const limits: number[] = [];
  for (let trip = 0; trip < 300; trip++) {
    pace = roundTrip(pace, trip * 5000, (index) => (index < 50 ? served : refused(1000)));
    limits.push(pace.limit);
  }
  const late = limits.slice(100);
  assert.ok(
    Math.min(...late) >= 25 && Math.max(...late) <= 75,
    `${Math.min(...late)} to ${Math.max(...late)}`,
  );
});

/** How many calls may be sent in each of the minutes that begin with a call. */
function mostInAMinute(limits: Partial<PaceLimits>, tokens: number): number {
  let pace = aPace({ maxInFlight: 1e9, startInFlight: 1e9, ...limits });
  const times: number[] = [];
  for (let now = 0; now < 240_000; ) {
    const wait = waitOf(pace, now) ?? 0;
    if (wait > 0) now += wait;
    else {
      times.push(now);
      pace = afterSending(pace, tokens, now);
    }
  }
  return Math.max(
    ...times.map((from, index) => times.filter((at, other) => other >= index && at < from + 60_000).length),
  );
}

for (const rpm of [1, 3, 30, 60, 500]) {
  test(`no minute sees more than ${rpm} requests, and hardly fewer`, () => {
    const most = mostInAMinute({ rpm }, 0);
    assert.ok(most <= rpm && most >= rpm * 0.95 - 1, `${most}`);
  });
}

test('no minute sees more tokens than its limit and one call', () => {
  const most = mostInAMinute({ tpm: 10_000 }, 1000) * 1000;
  assert.ok(most <= 11_000 && most >= 9_000, `${most}`);
});

test('tokens that were not used are given back, and those above the estimate are paid', () => {
  const limits = { tpm: 6100 };
  const one = afterSending(aPace(limits), 1000, 0);
  const sent = { number: 0, tokens: 1000 };
  const cheap = waitOf(afterReturn(one, sent, { kind: 'served', tokens: 10 }, 0, 0), 0) ?? 0;
  const exact = waitOf(afterReturn(one, sent, { kind: 'served', tokens: 1000 }, 0, 0), 0) ?? 0;
  const dear = waitOf(afterReturn(one, sent, { kind: 'served', tokens: 2000 }, 0, 0), 0) ?? 0;
  assert.deepEqual([cheap, exact, dear], [0, 9000, 19_000]);
});

test('a process with a share of an endpoint keeps to its part, and to one call at least', () => {
  assert.deepEqual(shareLimits({ maxInFlight: 256, rpm: 100, tpm: 1000 }, 0.25), {
    maxInFlight: 64,
    startInFlight: 8,
    rpm: 25,
    tpm: 250,
  });
  assert.equal(shareLimits({ maxInFlight: 2 }, 0.25).maxInFlight, 1);
});

test('what is taken for a call follows what calls like it came to', () => {
  let pace = startPace(shareLimits({ maxInFlight: 256, tpm: 60_000 }, 1), 0);
  assert.equal(expectTokens(pace, 400), 400);
  for (let call = 0; call < 200; call += 1) {
    const sent = { number: pace.next, tokens: expectTokens(pace, 400), estimate: 400 };
    pace = afterSending(pace, sent.tokens, call);
    pace = afterReturn(pace, sent, { kind: 'served', tokens: 100 }, 0, call);
  }
  assert.equal(expectTokens(pace, 400), 101);
});

test('other limits keep what was learned, as far as they allow it', () => {
  const pace = roundTrip(aPace(), 0, () => served);
  assert.equal(limitOf(pace, 0), 64);
  const less = changeLimits(pace, shareLimits({ maxInFlight: 10 }, 1), 0);
  assert.equal(limitOf(less, 0), 10);
  assert.equal(limitOf(changeLimits(less, shareLimits({ maxInFlight: 256, rpm: 5 }, 1), 0), 0), 64);
});

describe('a leased pace', () => {
  const model = { maxInFlight: 256, rpm: 610 };
  const leased = (rpm: number, until = 10_000) => leaseLimits(model, { share: { rpm }, until });
  const empty = startPace(leaseLimits(model, undefined), 0);

  it('sends nothing without a lease, and waits for nothing else', () => {
    assert.deepEqual([waitOf(empty, 0), limitOf(empty, 0), isShort(empty, 0)], [undefined, 0, true]);
  });

  it('sends nothing from the end of its lease on', () => {
    const pace = changeLimits(empty, leased(600), 0);
    assert.equal(waitOf(pace, 9_999), 0);
    assert.deepEqual([waitOf(pace, 10_000), limitOf(pace, 10_000)], [undefined, 0]);
  });

  it('begins with an empty bucket, as another worker may have used the last second', () => {
    assert.equal(waitOf(changeLimits(empty, leased(610), 0), 0), 100);
  });

  it('keeps what its bucket holds when the lease is renewed, and no more than a smaller one may hold', () => {
    const full = changeLimits(changeLimits(empty, leased(610), 0), leased(610), 5_000);
    assert.equal(sendAll(full, 5_000).sent.length, 10);
    assert.equal(sendAll(changeLimits(full, leased(122), 5_000), 5_000).sent.length, 2);
  });

  it('calls with what it may have in flight where only calls a minute are leased', () => {
    assert.equal(leased(60).maxInFlight, 256);
    assert.equal(leaseLimits({ maxInFlight: 8 }, { share: { maxInFlight: 3 }, until: 1 }).maxInFlight, 3);
  });

  it('is short where its share holds calls back, and not where the endpoint does', () => {
    const pace = changeLimits(empty, leased(600), 0);
    assert.ok(isShort(pace, 0));
    const sent = { number: 0, tokens: 0 };
    const refusing = afterReturn(afterSending(pace, 0, 1_000), sent, refused(5_000), 1, 1_000);
    assert.ok(!isShort(refusing, 1_000));
  });
});
