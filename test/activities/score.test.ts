import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scoreRun, scoreTurn } from '../../activities/score.ts';
import type { CheckResult } from '../../domain/check.ts';
import { applyEvent, unopened } from '../../domain/conversation.ts';
import { Fault, type FaultCode } from '../../domain/fault.ts';
import type { JournalEvent } from '../../domain/journal.ts';
import { aCheck } from '../domain/checks/builders.ts';
import { aFault, aScoring, cannot, dependencies, judges, withChecks } from './scripted-judges.ts';

const judge = (votes = 1) =>
  aCheck(
    { kind: 'judge', model: 'm', rubric: 'Is it polite?', answer: { kind: 'pass_fail' }, votes },
    { name: 'polite', sees: 'transcript' },
  );
const code = aCheck({ kind: 'code', module: { file: 'check.ts', sha256: '0' } }, { name: 'own' });
const refunded = aCheck(
  { kind: 'contains_any', texts: ['refunded'], caseSensitive: false },
  { name: 'refunded' },
);
const pass = '{"reason":"kind words","answer":"pass"}';
const fail = '{"reason":"rude words","answer":"fail"}';

function resultsOf(scored: Awaited<ReturnType<typeof scoreRun>>): readonly CheckResult[] {
  assert.ok('results' in scored, 'it was not scored to the end');
  return scored.results;
}

/** Where a conversation stands after events without a time. */
function after(events: readonly object[]) {
  return events.reduce<typeof unopened>(
    (now, event) => applyEvent(now, { at: 0, ...event } as JournalEvent),
    unopened,
  );
}

describe('scoring a run', () => {
  it('gives the results in the order of the checks, and journals each vote before the results', async () => {
    const { scoring, events } = withChecks([judge(), refunded]);
    const results = resultsOf(await scoreRun(scoring, dependencies(judges(() => pass)).deps));
    assert.deepEqual(
      results.map(({ check, verdict }) => [check, verdict]),
      [
        ['polite', 'pass'],
        ['refunded', 'pass'],
      ],
    );
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['call', 'vote', 'check', 'check'],
    );
  });

  it('records what a judge cost, in the journal and for the metrics', async () => {
    const { scoring, events } = withChecks([judge()]);
    const { deps, metered } = dependencies(judges(() => pass));
    await scoreRun(scoring, deps);
    assert.deepEqual(events[0], {
      kind: 'call',
      role: 'judge',
      turn: 2,
      model: 'm',
      ms: 5,
      input_tokens: 100,
      output_tokens: 10,
      estimated: false,
      cost_usd: 0.01,
      code: 'ok',
    });
    assert.deepEqual(metered, ['judge m ok']);
  });

  it('asks each vote with a seed of its own, the same in every attempt, at temperature 0', async () => {
    const seedsOf = async () => {
      const models = judges(() => pass);
      await scoreRun(withChecks([judge(3)]).scoring, dependencies(models).deps);
      assert.deepEqual(
        models.asked.map(({ temperature, temperatureOptional }) => [temperature, temperatureOptional]),
        Array(3).fill([0, true]),
      );
      return models.asked.map(({ seed }) => seed);
    };
    const seeds = await seedsOf();
    assert.equal(new Set(seeds).size, 3);
    assert.deepEqual(await seedsOf(), seeds);
  });

  it('does not ask for a vote again that is in the journal', async () => {
    const models = judges((_, call) => (call === 1 ? fail : pass));
    const first = withChecks([judge(3)]);
    const leaving = [false, false];
    const stopping = { ...first.scoring, leaving: () => leaving.pop() ?? true };
    assert.deepEqual(await scoreRun(stopping, dependencies(models).deps), { waitMs: 0 });
    assert.deepEqual(
      first.events.map(({ kind }) => kind),
      ['call', 'vote', 'call', 'vote'],
    );

    const second = withChecks([judge(3)], { scored: after(first.events) });
    const results = resultsOf(await scoreRun(second.scoring, dependencies(models).deps));
    assert.equal(models.asked.length, 3);
    assert.equal(results[0]?.reason, '2 of 3 votes for 1: kind words');
  });

  it('does not score a check again that is in the journal', async () => {
    const first = withChecks([judge(), refunded]);
    const models = judges(() => pass);
    const results = resultsOf(await scoreRun(first.scoring, dependencies(models).deps));
    const second = withChecks([judge(), refunded], { scored: after(first.events) });
    assert.deepEqual(resultsOf(await scoreRun(second.scoring, dependencies(models).deps)), results);
    assert.deepEqual([models.asked.length, second.events.length], [1, 0]);
  });

  it('has at most four judge calls in flight', async () => {
    let inFlight = 0;
    let most = 0;
    const models = judges(async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      return pass;
    });
    await scoreRun(withChecks([judge(11)]).scoring, dependencies(models).deps);
    assert.deepEqual([most, models.asked.length], [4, 11]);
  });

  it('tries a judge that is at fault three times, then leaves the check undecided', async () => {
    const { scoring, events } = withChecks([judge(), refunded]);
    const { deps, metered } = dependencies(judges(() => aFault('timed_out')));
    const [polite, other] = resultsOf(await scoreRun(scoring, deps));
    assert.deepEqual(
      [polite?.verdict, polite?.faultCode, polite?.score],
      ['undecided', 'timed_out', undefined],
    );
    assert.equal(other?.verdict, 'pass');
    assert.deepEqual(metered, Array(3).fill('judge m timed_out'));
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['call', 'call', 'call', 'vote', 'check', 'check'],
    );
  });

  it('waits for a rate limit as often as it takes, and counts it as no try', async () => {
    const { deps, slept } = dependencies(
      judges((_, call) => (call <= 9 ? aFault('rate_limited', 2_000) : pass)),
    );
    const [polite] = resultsOf(await scoreRun(withChecks([judge()]).scoring, deps));
    assert.equal(polite?.verdict, 'pass');
    assert.deepEqual(slept, Array(9).fill(2_000));
  });

  it('backs off further with each refusal that names no time', async () => {
    const { deps, slept } = dependencies(judges((_, call) => (call <= 5 ? aFault('rate_limited') : pass)));
    await scoreRun(withChecks([judge()]).scoring, deps);
    assert.equal(slept.length, 5);
    slept.forEach((ms, index) => {
      const whole = 500 * 2 ** index;
      assert.ok(ms >= whole / 2 && ms <= whole, `${ms} ms after refusal ${index + 1}`);
    });
  });

  it('leaves a wait of more than a minute to its caller, with the votes so far in the journal', async () => {
    const { scoring, events } = withChecks([judge(2)]);
    const { deps, slept } = dependencies(
      judges((_, call) => (call === 1 ? pass : aFault('rate_limited', 90_000))),
    );
    assert.deepEqual(await scoreRun(scoring, deps), { waitMs: 90_000 });
    assert.deepEqual([slept.length, events.filter(({ kind }) => kind === 'vote').length], [0, 1]);
  });

  it('does not try again what only a person can mend', async () => {
    const models = judges(() => aFault('denied'));
    const [polite] = resultsOf(await scoreRun(withChecks([judge()]).scoring, dependencies(models).deps));
    assert.deepEqual([models.asked.length, polite?.faultCode], [1, 'denied']);
  });

  it('asks by schema, then by forced tool, then in text, as the endpoint can do it', async () => {
    const models = judges((request) =>
      request.answerSchema || request.toolChoice ? cannot() : 'kind words\nanswer: pass',
    );
    const [polite] = resultsOf(await scoreRun(withChecks([judge()]).scoring, dependencies(models).deps));
    assert.equal(polite?.verdict, 'pass');
    const ways = models.asked.map(({ answerSchema, toolChoice }) =>
      answerSchema ? 'schema' : (toolChoice ?? 'text'),
    );
    assert.deepEqual(ways, ['schema', 'give_verdict', 'text']);
  });

  it('asks in text at once where the endpoint is known to do nothing else', async () => {
    const models = judges(() => 'answer: pass', { tools: false, answerSchema: false });
    await scoreRun(withChecks([judge()]).scoring, dependencies(models).deps);
    assert.deepEqual(
      models.asked.map(({ answerSchema, tools }) => [answerSchema, tools]),
      [[undefined, undefined]],
    );
  });

  it('is undecided where the judge cannot be read', async () => {
    const [polite] = resultsOf(
      await scoreRun(withChecks([judge()]).scoring, dependencies(judges(() => 'lovely')).deps),
    );
    assert.deepEqual(
      [polite?.verdict, polite?.reason],
      ['undecided', "the judge's answer could not be read: lovely"],
    );
  });

  it('says with each judged score by which prompt and model it was made', async () => {
    const [polite, other] = resultsOf(
      await scoreRun(withChecks([judge(), refunded]).scoring, dependencies(judges(() => pass)).deps),
    );
    assert.match(polite?.judgeHash ?? '', /^[0-9a-f]{64}$/);
    assert.equal(other?.judgeHash, undefined);
  });

  it('asks a check at each turn of each turn', async () => {
    const each = { ...judge(), at: 'each_turn', rollup: 'all' } as const;
    const models = judges((request) => (request.messages[1]?.content.includes('Judge turn 2') ? fail : pass));
    const [polite] = resultsOf(await scoreRun(withChecks([each]).scoring, dependencies(models).deps));
    assert.deepEqual(
      [polite?.verdict, polite?.failedTurn, polite?.turns?.map(({ verdict }) => verdict)],
      ['fail', 2, ['pass', 'fail']],
    );
  });

  it('asks a check with for_tag only of scenarios with the tag', async () => {
    const { scoring } = withChecks([{ ...refunded, forTag: 'refund' }]);
    assert.deepEqual(resultsOf(await scoreRun(scoring, dependencies(judges(() => pass)).deps)), []);
  });

  it('asks the judge of the driver, softly, where the driver wants one', async () => {
    const models = judges(() => fail);
    const driver = {
      kind: 'model',
      model: 'm',
      prompt: 'You are Ada, order {input.order}.',
      temperature: 0,
      temperatureGiven: true,
      managed: true,
      faithful: 'm',
    } as const;
    const { scoring, events } = aScoring();
    const results = resultsOf(
      await scoreRun({ ...scoring, spec: { ...scoring.spec, driver } }, dependencies(models).deps),
    );
    assert.deepEqual(
      results.map(({ check, verdict, required }) => [check, verdict, required]),
      [['faithful', 'fail', false]],
    );
    assert.match(models.asked[0]?.messages[1]?.content ?? '', /You are Ada, order 4471\./);
    assert.equal(events.find((event) => event.kind === 'vote')?.check, 'faithful');
  });

  it('does not take a store that is out of reach for a fault of the judge', async () => {
    const lost = new Fault('store_unavailable', 'disk full', { blame: 'infrastructure' });
    const models = judges(() => pass);
    const { scoring } = withChecks([judge(11)], { record: async () => Promise.reject(lost) });
    await assert.rejects(scoreRun(scoring, dependencies(models).deps), lost);
    assert.equal(models.asked.length, 4);
  });

  it('ends with the reason of the signal where it is aborted', async () => {
    const reason = new Error('cancelled');
    const options = { signal: AbortSignal.abort(reason), timeoutMs: 1_000, order: 0 };
    const { scoring, events } = withChecks([judge()], { options });
    await assert.rejects(scoreRun(scoring, dependencies(judges(() => pass)).deps), reason);
    assert.equal(events.length, 0);
  });
});

describe('a check in code', () => {
  const returning = async (returned: Parameters<typeof dependencies>[1]) =>
    resultsOf(
      await scoreRun(
        withChecks([code]).scoring,
        dependencies(
          judges(() => pass),
          returned,
        ).deps,
      ),
    )[0];

  it('may return a boolean, a number, or an object', async () => {
    assert.equal((await returning(() => true))?.verdict, 'pass');
    assert.equal((await returning(() => 0.5))?.verdict, 'fail');
    assert.deepEqual(await returning(() => ({ score: 0.2, pass: true, reason: 'good enough' })), {
      check: 'own',
      required: true,
      verdict: 'pass',
      score: 0.2,
      reason: 'good enough',
    });
  });

  it('is undecided where it returns something else, or throws', async () => {
    assert.match((await returning(() => 'yes'))?.reason ?? '', /returned yes; expected a boolean/);
    const thrown = await returning(() => {
      throw new Fault('module_error', 'TypeError in check.ts:3', { blame: 'judge' });
    });
    assert.deepEqual([thrown?.verdict, thrown?.faultCode], ['undecided', 'module_error']);
  });

  it('is tried again where its thread went down under it, three times in all', async () => {
    const failing = (times: number, fault: FaultCode) => {
      let calls = 0;
      const { deps, slept } = dependencies(
        judges(() => pass),
        () => {
          calls += 1;
          if (calls <= times) throw aFault(fault);
          return true;
        },
      );
      return scoreRun(withChecks([code]).scoring, deps).then((scored) => ({
        verdict: resultsOf(scored)[0]?.verdict,
        waits: slept.length,
      }));
    };
    assert.deepEqual(await failing(2, 'unavailable'), { verdict: 'pass', waits: 2 });
    assert.deepEqual(await failing(3, 'unavailable'), { verdict: 'undecided', waits: 2 });
    assert.deepEqual(await failing(1, 'timed_out'), { verdict: 'undecided', waits: 0 });
  });

  it('gets transcript, scenario and the numbers of the run', async () => {
    let keys: string[] = [];
    await returning((_, input) => {
      keys = Object.keys(input as object);
      return true;
    });
    assert.deepEqual(keys, ['transcript', 'scenario', 'usage']);
  });

  it('may be the export named check', async () => {
    const result = await returning((name) => {
      if (name === 'default') throw new Fault('not_found', 'no default export', { blame: 'configuration' });
      return true;
    });
    assert.equal(result?.verdict, 'pass');
  });
});

describe('scoring a turn', () => {
  it('asks a stop check of the conversation as it stands, and journals it under the turn', async () => {
    const { scoring, events } = aScoring();
    const { deps } = dependencies(judges(() => pass));
    const verdictAt = async (turn: number) =>
      resultsOf(await scoreTurn([refunded], turn, scoring, deps))[0]?.verdict;
    assert.deepEqual([await verdictAt(1), await verdictAt(2)], ['fail', 'pass']);
    assert.deepEqual(
      events.map((event) => (event.kind === 'check' ? event.turn : undefined)),
      [1, 2],
    );
  });

  it('pays for no judge twice: neither when the turn is resumed, nor when the run is scored', async () => {
    const models = judges(() => pass);
    const { deps } = dependencies(models);
    const { scoring, events } = withChecks([judge()]);
    await scoreTurn([judge()], 2, scoring, deps);
    const later = withChecks([judge()], { scored: after(events) });
    await scoreTurn([judge()], 2, later.scoring, deps);
    const [polite] = resultsOf(await scoreRun(later.scoring, deps));
    assert.deepEqual([polite?.verdict, models.asked.length], ['pass', 1]);
  });
});
