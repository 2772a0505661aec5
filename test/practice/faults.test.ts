import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { faultKinds, faultOf, proveFaults } from '../../practice/faults.ts';
import { inabilities } from '../../practice/options.ts';
import { aPracticeModel, type Completion, complete, hello, post, textOf } from './practice-client.ts';

describe('the faults of the practice model', () => {
  for (const [kind, status, words] of [
    ['rate429', 429, /rate_limit_exceeded/],
    ['quota', 429, /insufficient_quota/],
    ['denied', 401, /invalid_api_key/],
    ['rate500', 500, /server_error/],
    ['contextFull', 400, /context_length_exceeded/],
    ['contentRefused', 400, /content_filter/],
  ] as const) {
    it(`${kind} answers ${status} with a code`, async (test) => {
      const response = await post(await aPracticeModel(test, { faults: { [kind]: 1 } }), hello);
      assert.equal(response.status, status);
      assert.match(await response.text(), words);
    });
  }

  it('rate429 says how long to wait, quota does not', async (test) => {
    const limited = await post(await aPracticeModel(test, { faults: { rate429: 1, retryAfterS: 7 } }), hello);
    const spent = await post(await aPracticeModel(test, { faults: { quota: 1 } }), hello);
    assert.equal(limited.headers.get('retry-after'), '7');
    assert.equal(spent.headers.get('retry-after'), null);
  });

  it('drop closes the socket without an answer', async (test) => {
    const model = await aPracticeModel(test, { faults: { drop: 1 } });
    await assert.rejects(post(model, hello), /fetch failed/);
  });

  it('cut closes it half way through the answer', async (test) => {
    const response = await post(await aPracticeModel(test, { faults: { cut: 1 } }), hello);
    assert.equal(response.status, 200);
    await assert.rejects(response.text(), /terminated/);
  });

  it('hang never answers', async (test) => {
    const model = await aPracticeModel(test, { faults: { hang: 1 } });
    const leaving = new AbortController();
    const answer = assert.rejects(
      fetch(`${model.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'practice', ...hello }),
        signal: leaving.signal,
      }),
      { name: 'AbortError' },
    );
    while (model.stats().faults.hang !== 1) await fetch(`${model.url}/models`);
    leaving.abort();
    await answer;
  });

  it('hangEvery hits exactly every N-th call', async (test) => {
    const model = await aPracticeModel(test, { faults: { hangEvery: 3 } });
    await complete(model, hello);
    await complete(model, hello);
    const third = post(model, hello).then(
      () => 'answered',
      () => 'hung',
    );
    while (model.stats().faults.hang !== 1) await fetch(`${model.url}/models`);
    assert.equal((await post(model, hello)).status, 200);
    await model.close();
    assert.equal(await third, 'hung');
  });

  it('malformed is 200 with JSON that ends too early', async (test) => {
    const response = await post(await aPracticeModel(test, { faults: { malformed: 1 } }), hello);
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.match(text, /^\{"id":/);
    assert.throws(() => JSON.parse(text), SyntaxError);
  });

  it('hollow is a completion without choices, empty one without text', async (test) => {
    const hollow = await answerUnder(test, 'hollow');
    const empty = await answerUnder(test, 'empty');
    assert.deepEqual(hollow.choices, []);
    assert.equal(empty.choices[0]?.message.content, '');
  });

  it('huge is a text of 5 MB', async (test) => {
    assert.equal(textOf(await answerUnder(test, 'huge')).length, 5_000_000);
  });

  it('slowBody arrives in pieces and is whole', async (test) => {
    const slow = await aPracticeModel(test, { faults: { slowBody: 1, slowBodyMs: 40 } });
    const response = await post(slow, hello);
    let pieces = 0;
    let text = '';
    for await (const piece of response.body ?? []) {
      pieces += 1;
      text += new TextDecoder().decode(piece);
    }
    assert.ok(pieces > 1, `${pieces} piece`);
    assert.equal(textOf(JSON.parse(text)), textOf(await complete(await aPracticeModel(test), hello)));
  });

  it('spare probes, other roles and the calls before afterCalls', async (test) => {
    const model = await aPracticeModel(test, { faults: { rate500: 1, afterCalls: 1, roles: ['target'] } });
    assert.equal((await post(model, hello)).status, 200);
    assert.equal((await post(model, hello)).status, 500);
    assert.equal((await post(model, { ...hello, max_tokens: 1 })).status, 200);
    const judged = {
      ...hello,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
    };
    assert.equal((await post(model, judged)).status, 200);
  });

  it('hit the same requests in any order of arrival', () => {
    const draws = Array.from(
      { length: 200 },
      (_, index) => ({ seed: 5, role: 'target', call: index + 1, content: `c${index}`, time: 1 }) as const,
    );
    const faults = { rate429: 0.2, drop: 0.2 };
    const forwards = draws.map((draw) => faultOf(faults, draw));
    const backwards = draws.toReversed().map((draw, index) => faultOf(faults, { ...draw, call: index + 1 }));
    assert.deepEqual(backwards.toReversed(), forwards);
  });

  it('hit about their share of the calls, and a retry anew', () => {
    const hits = (time: number) =>
      Array.from({ length: 2000 }, (_, index) => index).filter(
        (index) =>
          faultOf({ rate429: 0.3 }, { seed: 1, role: 'driver', call: 1, content: String(index), time }) !==
          undefined,
      );
    const first = hits(1);
    const second = hits(2).filter((index) => first.includes(index));
    assert.ok(first.length > 520 && first.length < 680, `${first.length} of 2000`);
    assert.ok(second.length > 120 && second.length < 250, `${second.length} of ${first.length}`);
  });

  it('are all explained in the README', () => {
    const readme = readFileSync('practice/README.md', 'utf8');
    assert.deepEqual(
      [...faultKinds, ...inabilities].filter((name) => !readme.includes(`\`${name}\``)),
      [],
    );
  });

  it('are refused where the shares are no shares', () => {
    assert.throws(() => proveFaults({ drop: 0.6, hang: 0.6 }), /add up to 1.2/);
    assert.throws(() => proveFaults({ drop: -1 }), /from 0 to 1/);
    assert.throws(() => proveFaults({ hangEvery: 0 }), /whole number/);
    assert.doesNotThrow(() =>
      proveFaults(Object.fromEntries(faultKinds.map((kind) => [kind, 1 / faultKinds.length]))),
    );
  });
});

async function answerUnder(test: TestContext, kind: 'hollow' | 'empty' | 'huge'): Promise<Completion> {
  return complete(await aPracticeModel(test, { faults: { [kind]: 1 } }), hello);
}
