import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProgress, progressLines } from '../../../cli/render/progress.ts';
import { createStyle } from '../../../cli/render/style.ts';
import { widthOf } from '../../../cli/render/text.ts';
import { emptyTally } from '../../../domain/tally.ts';
import type { SweepProgress } from '../../../workflows/messages.ts';
import { aTerminal } from './test-terminal.ts';

const plain = createStyle({ hasColour: false });

function aProgress(passed: number, fields: Partial<SweepProgress> = {}): SweepProgress {
  return {
    state: 'running',
    runs: 1_000,
    open: 200,
    window: 200,
    budgetUsd: 20,
    tally: { ...emptyTally, outcomes: { passed }, usd: 1.234 },
    startedAt: 0,
    ...fields,
  };
}

const history = [
  { at: 0, ended: 100 },
  { at: 10_000, ended: 200 },
];

function shellOf(terminal: { write(text: string): void }, isTerminal: boolean) {
  const clock = { ms: 0 };
  const shell = { stderr: terminal, isTerminal, hasColour: false, columns: 80, now: () => clock.ms };
  return { clock, shell };
}

describe('the progress of a sweep', () => {
  it('is two lines at 80 columns: bar, rate, ETA and spend; outcomes and faults', () => {
    const tally = {
      ...emptyTally,
      outcomes: { passed: 180, failed: 15, broken: 5 },
      faults: { timed_out: 4, unavailable: 1 },
      usd: 1.234,
      tried: 31,
    };
    assert.deepEqual(progressLines({ progress: aProgress(0, { tally }), history }, 80, plain), [
      '━━──────── 200/1,000 20 %  10 runs/s  ETA 1 min 20 s  $1.23 of $20.00  200 open',
      '180 passed  15 failed  5 broken  broken by timed_out 4, unavailable 1  31 trie…',
    ]);
  });

  it('has a bar where there is room for one', () => {
    const [line = ''] = progressLines({ progress: aProgress(200), history }, 100, plain);
    assert.equal(
      line,
      '━━━━━━──────────────────────── 200/1,000 20 %  10 runs/s  ETA 1 min 20 s  $1.23 of $20.00  200 open',
    );
  });

  it('never reaches the last column, however narrow the terminal', () => {
    const view = { progress: aProgress(200), history, trouble: '日本語のエラー: no worker answers at all' };
    for (let columns = 10; columns < 200; columns += 1) {
      const lines = progressLines(view, columns, plain);
      assert.deepEqual(
        lines.filter((line) => widthOf(line) >= columns),
        [],
        `${columns}`,
      );
    }
  });

  it('says that it is paused and makes no promise when it will end', () => {
    const progress = aProgress(200, { state: 'paused', open: 0 });
    const [line = ''] = progressLines({ progress, history }, 80, plain);
    assert.match(line, /200\/1,000 20 % {2}\$1\.23 of \$20\.00 {2}paused$/);
  });

  it('names why it halts', () => {
    const halt = { reason: 'budget', detail: 'no room' } as const;
    const [line = ''] = progressLines(
      { progress: aProgress(200, { state: 'halting', halt }), history },
      80,
      plain,
    );
    assert.match(line, /halting \(budget\)$/);
  });

  it('shows 100 % only when every run has ended', () => {
    const [line = ''] = progressLines({ progress: aProgress(999), history: [] }, 80, plain);
    assert.match(line, /999\/1,000 99 %/);
  });

  it('keeps its terminal to itself: nothing of a trouble can move the cursor', () => {
    const lines = progressLines(
      { progress: undefined, trouble: '\u001B[2Jgone\nnext', history: [] },
      80,
      plain,
    );
    assert.deepEqual(lines, ['gone next']);
  });
});

describe('progress on a terminal', () => {
  it('is redrawn in place and gone at the end', () => {
    const terminal = aTerminal(80);
    const { shell, clock } = shellOf(terminal, true);
    terminal.write('sweep desk-1\n');
    const progress = createProgress(shell);
    progress.show({ progress: aProgress(100) });
    clock.ms = 10_000;
    progress.show({ progress: aProgress(200), trouble: 'no worker answers' });
    assert.deepEqual(terminal.screen(), [
      'sweep desk-1',
      '',
      '━━──────── 200/1,000 20 %  10 runs/s  ETA 1 min 20 s  $1.23 of $20.00  200 open',
      '200 passed',
      'no worker answers',
    ]);
    progress.end();
    assert.deepEqual(terminal.screen(), ['sweep desk-1']);
    assert.deepEqual(terminal.cursor(), { row: 1, column: 0 });
  });

  it('keeps the last numbers while nobody answers', () => {
    const terminal = aTerminal(80);
    const { shell } = shellOf(terminal, true);
    const progress = createProgress(shell);
    progress.show({ progress: aProgress(100) });
    progress.show({ trouble: 'no worker answers' });
    assert.deepEqual(terminal.screen().slice(-2), ['100 passed', 'no worker answers']);
  });

  it('leaves what others print meanwhile', () => {
    const terminal = aTerminal(80);
    const { shell } = shellOf(terminal, true);
    const progress = createProgress(shell);
    progress.show({ progress: aProgress(100) });
    terminal.write('The Temporal server has died; it is started again\n');
    progress.show({ progress: aProgress(150) });
    progress.end();
    assert.deepEqual(terminal.screen(), ['The Temporal server has died; it is started again']);
  });

  it('writes nothing at its end where nothing was shown', () => {
    const terminal = aTerminal(80);
    terminal.write('half a line');
    createProgress(shellOf(terminal, true).shell).end();
    assert.deepEqual(terminal.screen(), ['half a line']);
  });
});

describe('progress without a terminal', () => {
  function logged() {
    const printed: string[] = [];
    const { shell, clock } = shellOf({ write: (text) => printed.push(text) }, false);
    return { progress: createProgress(shell), clock, printed };
  }

  it('is a line every five seconds in which something changed', () => {
    const { progress, clock, printed } = logged();
    for (const [ms, passed] of [
      [0, 100],
      [1_000, 110],
      [5_000, 150],
      [12_000, 150],
      [13_000, 160],
    ] as const) {
      clock.ms = ms;
      progress.show({ progress: aProgress(passed) });
    }
    progress.end();
    assert.deepEqual(printed, [
      'running: 100/1,000 10 %, $1.23 of $20.00, 200 open, 100 passed\n',
      'running: 150/1,000 15 %, 10 runs/s, ETA 1 min 25 s, $1.23 of $20.00, 200 open, 150 passed\n',
      'running: 160/1,000 16 %, 4.6 runs/s, ETA 3 min 2 s, $1.23 of $20.00, 200 open, 160 passed\n',
    ]);
  });

  it('holds no escape codes', () => {
    const { progress, printed } = logged();
    progress.show({ progress: aProgress(1), trouble: '\u001B[31mred' });
    progress.end();
    assert.ok(!printed.join('').includes('\u001B'));
  });
});
