import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { aFolder, aStoredSweep, sweepId } from './stored-sweep.ts';

describe('scenarios failures', () => {
  let here: Awaited<ReturnType<typeof aFolder>>;
  before(async () => {
    here = await aFolder();
    const played = await aStoredSweep(here.folder);
    await played.play(1, 'No.');
  });
  after(() => here.remove());

  const failed = { id: 'angry', input: { order: 4471 }, tags: ['loud'] };

  it('prints the scenarios with a failed run as rows', async () => {
    const { exitCode, out, err } = await here.regatta(['scenarios', 'failures', sweepId]);
    assert.equal(exitCode, exitCodes.done);
    assert.equal(out, `${JSON.stringify(failed)}\n`);
    assert.equal(err, '1 of 2 scenarios with a run that is failed\n');
  });

  it('looks for the outcomes that it is asked for', async () => {
    const { out } = await here.regatta(['scenarios', 'failures', sweepId, '--outcome', 'broken,unplayed']);
    assert.deepEqual(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      ['calm'],
    );
  });

  it('names the closest outcome for an unknown one', async () => {
    const { exitCode, err } = await here.regatta(['scenarios', 'failures', sweepId, '--outcome', 'faild']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /There is no outcome "faild": did you mean "failed"\?/);
  });

  it('says with --reasons what became of their runs', async () => {
    const { out } = await here.regatta(['scenarios', 'failures', sweepId, '--reasons']);
    const regatta = {
      sweep: sweepId,
      failed: 1,
      repeats: 1,
      cause: 'refunded: no reply contains "refunded"',
    };
    assert.deepEqual(JSON.parse(out), { ...failed, meta: { regatta } });
  });

  it('writes a row file that another sweep takes', async () => {
    const { out } = await here.regatta(['scenarios', 'failures', sweepId, '--out', 'hard.jsonl']);
    assert.equal(out, '');
    assert.equal(await readFile(join(here.folder, 'hard.jsonl'), 'utf8'), `${JSON.stringify(failed)}\n`);
    const sweep = {
      scenarios: [{ file: 'hard.jsonl' }],
      driver: { script: ['Order {order}?'] },
      target: { script: { replies: ['Yes.'] } },
    };
    await writeFile(join(here.folder, 'again.json'), JSON.stringify(sweep));
    const planned = await here.regatta(['plan', 'again.json', '--tag', 'loud', '--json']);
    assert.equal(JSON.parse(planned.out).scenarios, 1);
  });

  it('writes an empty file where no run is like that', async () => {
    await writeFile(join(here.folder, 'none.jsonl'), 'old');
    const args = ['scenarios', 'failures', sweepId, '--outcome', 'broken', '--out', 'none.jsonl'];
    assert.equal((await here.regatta(args)).exitCode, exitCodes.done);
    assert.equal(await readFile(join(here.folder, 'none.jsonl'), 'utf8'), '');
  });

  it('names the closest sweep for an unknown one', async () => {
    const { exitCode, err } = await here.regatta(['scenarios', 'failures', `${sweepId.slice(0, -1)}e`]);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /did you mean/);
  });
});
