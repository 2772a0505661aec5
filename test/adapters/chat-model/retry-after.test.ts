import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter } from '../../../adapters/chat-model/retry-after.ts';

const now = Date.UTC(2030, 0, 1, 12, 0, 0);
const hour = 3_600_000;

type Row = readonly [headers: Readonly<Record<string, string>>, ms: number | undefined];

const rows: readonly Row[] = [
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after': ' 7 ' }, 7000],
  [{ 'retry-after': '1m30s' }, 90_000],
  [{ 'retry-after': 'Tue, 01 Jan 2030 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': '2030-01-01T12:00:05Z' }, 5000],
  [{ 'retry-after-ms': '120', 'retry-after': '1' }, 120],
  [{ 'retry-after': String(now / 1000 + 3) }, 3000],
  [{ 'x-ratelimit-reset-requests': '6ms' }, 6],
  [{ 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
  [{ 'x-ratelimit-reset-tokens': '1h2m3.5s' }, hour],
  [{ 'x-ratelimit-reset': String(now / 1000 + 20) }, 20_000],
  [{ 'x-ratelimit-reset': String(now + 1500) }, 1500],
  [{ 'ratelimit-reset': '12' }, 12_000],
  [{ 'anthropic-ratelimit-tokens-reset': '2030-01-01T12:00:09Z' }, 9000],
  [{ 'x-ratelimit-reset-requests': '8s', 'x-ratelimit-reset-tokens': '60s' }, 8000],
  [
    {
      'x-ratelimit-reset-requests': '8s',
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-reset-tokens': '60s',
      'x-ratelimit-remaining-tokens': '0',
    },
    60_000,
  ],
  [{ 'retry-after': '0' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': 'May 5' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'NaN' }, undefined],
  [{ 'retry-after': 'Tue, 01 Jan 2019 12:00:30 GMT' }, undefined],
  [{ 'x-ratelimit-reset': String(now / 1000 - 20) }, undefined],
  [{}, undefined],
  [{ 'retry-after': '86400' }, hour],
  [{ 'retry-after': '999999999999999999' }, hour],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, hour],
  [{ 'retry-after': 'garbage', 'x-ratelimit-reset': '4' }, 4000],
];
for (const [headers, ms] of rows) {
  test(`${JSON.stringify(headers)} means ${ms === undefined ? 'back off' : `wait ${ms} ms`}`, () => {
    assert.equal(
      readRetryAfter((name) => headers[name], '', now),
      ms,
    );
  });
}

const bodies: readonly (readonly [body: string, ms: number | undefined])[] = [
  ['{"error":{"details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}', 34_500],
  ['Please try again in 1m2.5s.', 62_500],
  ['Please try again in 20ms. Visit us.', 20],
  ['Please retry in 3.07s.', 3070],
  ['Please retry after 20 seconds.', 20_000],
  ['Please wait before trying again.', undefined],
  ['retry in 5 years', undefined],
];
for (const [body, ms] of bodies) {
  test(`the body ${body} means ${ms === undefined ? 'back off' : `wait ${ms} ms`}`, () => {
    assert.equal(
      readRetryAfter(() => undefined, body, now),
      ms,
    );
  });
}
