import assert from 'node:assert/strict';
import { it } from 'node:test';
import { summaryOf } from '../../activities/run-work.ts';
import { noRoleUsage } from '../../domain/usage.ts';
import { aResult } from '../adapters/store-builders.ts';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const week = 7 * 86_400_000;

it('what a history holds of a finished run fits into 400 bytes, at its worst', () => {
  const usage = {
    ...noRoleUsage,
    calls: 1e9,
    wastedCalls: 1e9,
    inputTokens: 1e12,
    outputTokens: 1e12,
    costUsd: 1 / 3 + 1e6,
  };
  const summary = summaryOf(
    aResult({
      outcome: 'undecided',
      ending: { kind: 'content_refused', by: 'target' },
      blame: 'infrastructure',
      fault: { code: 'store_unavailable', message: 'x'.repeat(10_000), endpoint: '"\\\u0000é'.repeat(1_000) },
      usage: { driver: usage, target: usage, judge: usage },
      retries: { unavailable: 1e9, rate_limited: 1e9 },
    }),
  );
  assert.ok(bytes(summary) <= 400, `${bytes(summary)} bytes: ${JSON.stringify(summary)}`);
});

it("the input of a run's workflow and of its activities fits into 1 KB, with the longest ids", () => {
  const run = 'r'.repeat(200);
  const input = {
    sweep: 's'.repeat(200),
    shard: 999,
    run,
    generation: 999,
    timeouts: { callMs: week, runMs: week, giveUpMs: week, sweepMs: week, stretchMs: week },
    inline: false,
    rejudge: false,
  };
  assert.ok(bytes(input) <= 1_024);
  const { sweep, shard, generation } = input;
  assert.ok(bytes({ sweep, shard, run, generation, stretchMs: week, longestWaitMs: week }) <= 1_024);
});

it('the cost of a run is told to the millionth of a dollar', () => {
  const usage = {
    driver: { ...noRoleUsage, costUsd: 0.1 },
    target: { ...noRoleUsage, costUsd: 0.2 },
    judge: noRoleUsage,
  };
  assert.equal(summaryOf(aResult({ usage })).usd, 0.3);
});
