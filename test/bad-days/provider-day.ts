import assert from 'node:assert/strict';
import type { Json } from '../../domain/json.ts';
import type { Faults } from '../../practice/faults.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { type Told, told } from './results.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

export type Day = {
  readonly sweep: string;
  readonly code: number | string;
  readonly report: Told;
  readonly stats: ReturnType<PracticeModel['stats']>;
  readonly stderr: string;
};

/** A user whose server is kept between the sweeps: starting one takes longer than most of them. */
export async function aUserWithServer(): Promise<User> {
  const user = await aUser();
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
  return user;
}

let swept = 0;

/** A sweep of `count` conversations on a day on which the provider of all models fails so. */
export async function aDay(
  user: User,
  faults: Faults,
  count: number,
  fields: { readonly [name: string]: Json } = {},
): Promise<Day> {
  const practice = await startPracticeModel({ latencyMs: 20, faults });
  try {
    swept += 1;
    const sweep = `day-${swept}`;
    await user.write('sweep.json', sweepText(count, fields));
    const env = { PRACTICE_URL: practice.url };
    const end = await user.regatta(['run', 'sweep.json', '--id', sweep, '--json'], { env });
    return { sweep, code: end.code, report: told(end.stdout), stats: practice.stats(), stderr: end.stderr };
  } finally {
    await practice.close();
  }
}
