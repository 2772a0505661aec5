import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { foldConversation } from '../../domain/conversation.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { ageSweep } from './age-sweep.ts';
import { assertOutcomes, readResults, told, transcripts } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type User, until } from './user.ts';

const conversations = 16;
const stopMs = 14 * 60 * 60_000;

let practice: PracticeModel;
let user: User;
/** What an undisturbed sweep says, by run. */
let undisturbed: ReadonlyMap<string, readonly string[]>;

before(async () => {
  // Some calls fail, so that conversations stop while they are being patient, too.
  practice = await startPracticeModel({ latencyMs: 50, faults: { rate500: 0.05 } });
  user = await aUser({ PRACTICE_URL: practice.url });
  const timeouts = { call: '20s', run: '2m', give_up: '1h', sweep: '12h' };
  await user.write('sweep.json', sweepText(conversations, { concurrency: 8, timeouts }));
  const calm = await user.regatta(['run', 'sweep.json', '--id', 'calm']);
  assert.equal(calm.code, 0, calm.stderr);
  undisturbed = await transcripts(user, 'calm');
});

after(async () => {
  await user?.leave();
  await practice?.close();
});

/** Plays half of a sweep, ends all its processes at once, and lets the stop be long. */
async function stopHalfway(id: string): Promise<void> {
  practice.reset();
  const run = user.begin(['run', 'sweep.json', '--id', id]);
  await until(() => practice.stats().calls > (conversations * callsEach) / 2);
  const server = user.serverPid();
  assert.ok(server !== undefined);
  run.kill('SIGKILL');
  process.kill(server, 'SIGKILL');
  await run.ended;
  ageSweep(join(user.folder, '.regatta/sweeps', id), stopMs);
}

/** How many conversations have begun and not ended. */
async function underWay(id: string): Promise<number> {
  let count = 0;
  for (const run of undisturbed.keys()) {
    const { generation, ending } = foldConversation((await user.store.readJournal(`${id}/${run}`)).events);
    if (generation > 0 && ending === undefined) count += 1;
  }
  return count;
}

async function assertUndisturbed(id: string): Promise<void> {
  assert.ok((await underWay(id)) > 0, 'conversations were under way');
  const end = await user.regatta(['resume', id, '--json']);
  assert.equal(end.code, 0, end.stderr);
  assert.equal(told(end.stdout).gate, 'open');
  await assertOutcomes(user, id, { passed: conversations });
  assert.deepEqual(await transcripts(user, id), undisturbed);
  for (const { run, startedAt, endedAt, playMs, ending } of await readResults(user, id)) {
    assert.equal(ending?.kind, 'max_turns', run);
    assert.ok(playMs < 60_000 && endedAt >= startedAt, run);
  }
}

describe('a sweep that stood still for 14 hours', { timeout: 180_000 }, () => {
  it('loses no run to a clock when it is resumed on the server that it had', async () => {
    await stopHalfway('overnight');
    await assertUndisturbed('overnight');
  });

  it('loses no run to a clock when it is resumed on a fresh server', async () => {
    await stopHalfway('elsewhere');
    for (const name of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm'])
      rmSync(join(user.folder, '.regatta', name), { force: true });
    await assertUndisturbed('elsewhere');
  });
});
