import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { aFolder, aStoredSweep, sweepId } from './stored-sweep.ts';

type Here = Awaited<ReturnType<typeof aFolder>>;

let here: Here;
before(async () => {
  here = await aFolder();
  const sweep = await aStoredSweep(here.folder);
  await sweep.play(0, 'It is refunded.', ['1-1-a', '2-1-b']);
  await sweep.play(1, 'No.');
});
after(() => here.remove());

describe('show of a run', () => {
  it('reads like a chat, with tool calls, checks, calls and how it was resumed', async () => {
    const { exitCode, out } = await here.regatta(['show', `${sweepId}/calm/1`]);
    assert.equal(exitCode, exitCodes.done);
    assert.equal(
      out.replace(/\d{4}-\S+Z/g, 'TIME'),
      `${sweepId}/calm/1
passed, ended by max_turns after 1 turn
1.2 s of play, 2 calls, $0.002, 1 resumed

turn 1  driver 400 ms  target 800 ms
driver  I want my money back.
target  It is refunded.
        -> find_order({"order":4471})
        <- {"eur":20}

Checks
  pass  refunded  1  a reply contains "refunded"

Calls: 2
  turn  role    model       time  in  out    cost
     1  driver  practice  400 ms  20    5  $0.001
     1  target  practice  800 ms  20    5  $0.001

Attempts
  TIME  4 events  1-1-a
  TIME  5 events  2-1-b  took over from one that was lost
`,
    );
  });

  it('says why it failed', async () => {
    const { out } = await here.regatta(['show', `${sweepId}/angry/1`]);
    assert.match(
      out,
      /\nfailed, ended by max_turns after 1 turn\nCause: refunded: no reply contains "refunded"\n/,
    );
    assert.doesNotMatch(out, /Attempts|Prompt|Shard/);
  });

  it('shows prompts with --verbose, shard and seed with --debug', async () => {
    const { out } = await here.regatta(['show', `${sweepId}/angry/1`, '--verbose', '--debug']);
    assert.match(out, /\nPrompt of the driver \(gpt-4o-mini\)\n {2}You are customer 4471\.\n/);
    assert.match(out, /\nShard 0 of 1, queue regatta\.desk-\S+, seed \d+\n$/);
  });

  it('prints it all as one object with --json', async () => {
    const { out } = await here.regatta(['show', `${sweepId}/calm/1`, '--json']);
    const shown = JSON.parse(out);
    const { calls, attempts, ...rest } = shown;
    assert.deepEqual(rest, {
      run: `${sweepId}/calm/1`,
      outcome: 'passed',
      ending: 'max_turns',
      ending_reason: null,
      blame: null,
      failure: null,
      fault: null,
      generation: 1,
      check_set: 0,
      messages: [
        { by: 'driver', text: 'I want my money back.', turn: 1, tool_calls: [] },
        {
          ...{ by: 'target', text: 'It is refunded.', turn: 1 },
          tool_calls: [{ name: 'find_order', args: { order: 4471 }, result: { eur: 20 } }],
        },
      ],
      checks: [
        {
          check: 'refunded',
          required: true,
          verdict: 'pass',
          score: 1,
          reason: 'a reply contains "refunded"',
        },
      ],
      usage: {
        ...{
          calls: 2,
          wasted_calls: 0,
          input_tokens: 40,
          output_tokens: 10,
          cost_usd: 0.002,
          estimated: false,
        },
      },
      prompts: { driver: 'You are customer 4471.' },
      models: { driver: 'gpt-4o-mini' },
    });
    assert.deepEqual(
      calls.map(({ role, turn, ms, code }: Record<string, unknown>) => [role, turn, ms, code]),
      [
        ['driver', 1, 400, 'ok'],
        ['target', 1, 800, 'ok'],
      ],
    );
    assert.deepEqual(
      attempts.map(({ writer, resumed, events }: Record<string, unknown>) => [writer, resumed, events]),
      [
        ['1-1-a', false, 4],
        ['2-1-b', true, 5],
      ],
    );
  });

  it('names the closest run for an unknown one', async () => {
    const { exitCode, err } = await here.regatta(['show', `${sweepId}/angyr/1`]);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, new RegExp(`has no run .* \\(did you mean "${sweepId}/angry/1"\\?\\)`));
  });
});

it('a run that is open has no outcome, and one that was never opened is unplayed', async () => {
  const other = await aFolder();
  const sweep = await aStoredSweep(other.folder);
  await sweep.play(0, 'It is refunded.', ['1-1-a'], false);
  const show = async (run: string) =>
    JSON.parse((await other.regatta(['show', `${sweepId}/${run}`, '--json'])).out);
  const [open, unplayed] = [await show('calm/1'), await show('angry/1')];
  assert.deepEqual([open.outcome, open.messages.length, open.usage.calls], [null, 2, 2]);
  assert.deepEqual([unplayed.outcome, unplayed.messages, unplayed.attempts], ['unplayed', [], []]);
  await other.remove();
});

it('what a target says cannot move the cursor of a terminal', async () => {
  const other = await aFolder();
  const sweep = await aStoredSweep(other.folder);
  await sweep.play(0, 'It is \u001B[2J\u001B[31mrefunded\u0007.');
  const { out } = await other.regatta(['show', `${sweepId}/calm/1`]);
  assert.match(out, /target {2}It is refunded\.\n/);
  assert.ok(!out.includes('\u001B'));
  await other.remove();
});

describe('show of a sweep', () => {
  it('lists its runs, with the cause of those that did not pass', async () => {
    const { out, err } = await here.regatta(['show', sweepId]);
    assert.equal(
      out,
      `        run      turns   time    cost  cause
passed  calm/1       1  1.2 s  $0.002
failed  angry/1      1  1.2 s  $0.002  refunded: no reply contains "refunded"
`,
    );
    assert.equal(err, '2 of 2 runs; regatta show RUN_ID shows one\n');
  });

  it('lists only the runs of one outcome, also as one object', async () => {
    const { out } = await here.regatta(['show', sweepId, '--outcome', 'failed', '--json']);
    assert.deepEqual(JSON.parse(out), {
      sweep: sweepId,
      runs: [
        {
          run: `${sweepId}/angry/1`,
          outcome: 'failed',
          ending: 'max_turns',
          blame: null,
          turns: 1,
          cost_usd: 0.002,
          failure: {
            ...{ run: `${sweepId}/angry/1`, outcome: 'failed', check: 'refunded' },
            reason: 'no reply contains "refunded"',
          },
        },
      ],
    });
  });
});
