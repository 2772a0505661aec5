import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PlanInput, planSweep } from '../../domain/plan.ts';
import { runSeed } from '../../domain/random.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';

function aScenario(id: string, rest: Partial<Scenario> = {}): Scenario {
  return { id, input: 'Hello', tags: [], meta: {}, ...rest };
}

function scenarios(count: number): readonly Scenario[] {
  return Array.from({ length: count }, (_, index) => aScenario(`s${index}`));
}

const target: TargetSpec = {
  kind: 'script',
  replies: ['Hi'],
  retries: 3,
  idempotent: false,
  onUnsureTurn: 'restart',
  onLostSession: 'restart',
  targetFaults: 'failed',
};

function aSpec(rest: Partial<SweepSpec> = {}): SweepSpec {
  return {
    schema: 1,
    name: 'desk',
    models: {
      gpt: { name: 'gpt', model: 'g', baseUrl: 'http://x', headers: {}, params: {}, maxInFlight: 256 },
    },
    driver: {
      kind: 'model',
      model: 'gpt',
      prompt: 'x',
      temperature: 0.6,
      temperatureGiven: false,
      managed: true,
    },
    targets: [target],
    conversation: { first: 'driver', maxTurns: 5 },
    repeats: 1,
    checks: [],
    thresholds: [],
    allowMissing: 0.01,
    concurrency: 50,
    timeouts: { callMs: 1000, runMs: 60_000, giveUpMs: 86_400_000, sweepMs: 604_800_000, stretchMs: 1000 },
    seed: 7,
    env: [],
    ...rest,
  };
}

function sizesOf(input: Omit<PlanInput, 'id'>): readonly number[] {
  return planSweep({ id: 's', ...input }).shards.map(({ runs }) => runs.length);
}

describe('the runs of a plan', () => {
  it('are scenario by variant by repeat', () => {
    const spec = aSpec({
      repeats: 2,
      targets: [
        { ...target, variant: 'a' },
        { ...target, variant: 'b' },
      ],
    });
    const plan = planSweep({
      id: 'sweep',
      spec,
      scenarios: [aScenario('x'), aScenario('y', { repeats: 1 })],
    });
    assert.deepEqual(
      plan.shards.flatMap(({ runs }) => runs.map(({ id }) => id)),
      ['sweep/x@a/1', 'sweep/x@a/2', 'sweep/x@b/1', 'sweep/x@b/2', 'sweep/y@a/1', 'sweep/y@b/1'],
    );
    assert.deepEqual([plan.scenarios, plan.variants, plan.runs], [2, 2, 6]);
  });

  it('have seeds of spec seed, scenario and repeat: the same for each variant and in every sweep', () => {
    const spec = aSpec({
      repeats: 2,
      targets: [
        { ...target, variant: 'a' },
        { ...target, variant: 'b' },
      ],
    });
    const { shards } = planSweep({ id: 'any', spec, scenarios: [aScenario('x')] });
    const [one, two] = [runSeed(7, 'x', 1), runSeed(7, 'x', 2)];
    assert.deepEqual(
      shards[0]?.runs.map(({ seed }) => seed),
      [one, two, one, two],
    );
  });

  it('must have ids that fit', () =>
    assert.throws(
      () => planSweep({ id: 'x'.repeat(95), spec: aSpec(), scenarios: [aScenario('y'.repeat(110))] }),
      /its runs' ids take 208 characters, at most 200 fit/,
    ));
});

describe('the shards of a plan', () => {
  it('hold 500 runs with a workflow each', () =>
    assert.deepEqual(sizesOf({ spec: aSpec(), scenarios: scenarios(1200), inline: false }), [500, 500, 200]));

  it('hold 1,000 inline runs at most', () =>
    assert.deepEqual(sizesOf({ spec: aSpec(), scenarios: scenarios(2200) }), [1000, 1000, 200]));

  it('are as many as are live at once for the window, so that none has more than 100 runs open', () => {
    const spec = aSpec({ concurrency: 500 });
    assert.deepEqual(sizesOf({ spec, scenarios: scenarios(1000), inline: true }), [200, 200, 200, 200, 200]);
  });

  it('hold 100 runs at least, where there are so many', () =>
    assert.deepEqual(sizesOf({ spec: aSpec(), scenarios: scenarios(150) }), [100, 50]));

  it('keep the runs of a scenario together', () =>
    assert.deepEqual(
      sizesOf({ spec: aSpec({ repeats: 300 }), scenarios: scenarios(3), inline: false }),
      [300, 300, 300],
    ));

  it('share a scenario that is too large for one', () => {
    const { shards } = planSweep({
      id: 's',
      spec: aSpec({ repeats: 1100 }),
      scenarios: scenarios(2),
      inline: false,
    });
    assert.deepEqual(
      shards.map(({ runs, scenarios: played }) => [runs.length, played.map(({ id }) => id)]),
      [
        [500, ['s0']],
        [500, ['s0']],
        [500, ['s0', 's1']],
        [500, ['s1']],
        [200, ['s1']],
      ],
    );
  });

  it('are numbered from 0', () =>
    assert.deepEqual(
      planSweep({ id: 's', spec: aSpec(), scenarios: scenarios(1200) }).shards.map(({ shard }) => shard),
      [0, 1],
    ));

  it('are at most 1,000', () =>
    assert.throws(
      () => planSweep({ id: 's', spec: aSpec({ repeats: 600_000 }), scenarios: scenarios(1), inline: false }),
      /600000 runs are too many for one sweep: they need 1200 shards, at most 1000 fit/,
    ));

  it('play runs inline where there are more than 500', () => {
    assert.equal(planSweep({ id: 's', spec: aSpec(), scenarios: scenarios(500) }).inline, false);
    assert.equal(planSweep({ id: 's', spec: aSpec(), scenarios: scenarios(501) }).inline, true);
    assert.equal(planSweep({ id: 's', spec: aSpec(), scenarios: scenarios(1), inline: true }).inline, true);
  });

  it('never play runs inline against a target on a queue', () => {
    const [target] = aSpec().targets;
    assert.ok(target);
    const { kind: _, ...common } = target;
    const spec = aSpec({ targets: [{ ...common, kind: 'queue', queue: 'desk' } as TargetSpec] });
    assert.equal(planSweep({ id: 's', spec, scenarios: scenarios(501), inline: true }).inline, false);
  });
});

describe('the estimate of a plan', () => {
  it('counts the calls of driver, target and judges, from half of the turns to all', () => {
    const judge = {
      kind: 'judge',
      model: 'gpt',
      rubric: 'x',
      answer: { kind: 'pass_fail' },
      votes: 3,
    } as const;
    const common = { sees: 'transcript', at: 'end', rollup: 'all', required: true, not: false } as const;
    const spec = aSpec({
      checks: [
        { ...judge, ...common, name: 'j' },
        { ...judge, ...common, name: 'k', forTag: 't' },
      ],
    });
    const { estimate } = planSweep({ id: 's', spec, scenarios: scenarios(10) });
    assert.deepEqual(estimate.calls, { low: 10 * (3 + 3 + 3), high: 10 * (5 + 5 + 3) });
    assert.deepEqual(estimate.callsPerRun, { gpt: 8 });
  });

  it('has money only where all prices are known', () => {
    const input = { id: 's', spec: aSpec(), scenarios: scenarios(10) };
    assert.equal(planSweep(input).estimate.costUsd, undefined);
    const { costUsd, p90RunCostUsd = 0 } = planSweep({
      ...input,
      priceOf: () => ({ input: 1, output: 2 }),
    }).estimate;
    assert.ok(costUsd !== undefined && costUsd.low > 0 && costUsd.low < costUsd.high);
    assert.ok(Math.abs(p90RunCostUsd * 10 - costUsd.high) < 1e-9);
  });
});

describe('a plan warns', () => {
  const model = aSpec().models.gpt;
  const slow = { gpt: { ...(model as NonNullable<typeof model>), rpm: 1 } };

  it('where the window is too wide for the pace', () =>
    assert.deepEqual(
      planSweep({ id: 's', spec: aSpec({ models: slow, concurrency: 400 }), scenarios: scenarios(400) })
        .warnings,
      [
        'at 1 requests a minute to gpt, 400 open runs of 5 calls take 1.4 d each, more than give_up (1 d): lower concurrency to 288',
      ],
    ));

  it('where the pace is too slow for the whole sweep', () =>
    assert.deepEqual(
      planSweep({ id: 's', spec: aSpec({ models: slow }), scenarios: scenarios(4000) }).warnings,
      ['at 1 requests a minute to gpt, all 4000 runs take 13.9 d, more than timeouts.sweep (7 d)'],
    ));

  it('of nothing where all fits', () =>
    assert.deepEqual(planSweep({ id: 's', spec: aSpec(), scenarios: scenarios(3) }).warnings, []));
});
