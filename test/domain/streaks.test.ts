import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  afterRun,
  haltingEndpoint,
  haltingStreak,
  type StreakRun as Run,
  type Streaks,
} from '../../domain/streaks.ts';

const denied = (endpoint = 'gpt'): Run => ({
  blame: 'configuration',
  code: 'denied',
  endpoint,
  played: false,
});
const played: Run = { played: true };
const after = (...runs: readonly Run[]): Streaks => runs.reduce<Streaks>(afterRun, []);
const times = (count: number, run: Run) => Array.from({ length: count }, () => run);

describe('runs in a row that the configuration of one endpoint broke', () => {
  it('halt the sweep when they are twenty', () => {
    assert.equal(haltingStreak, 20);
    assert.equal(haltingEndpoint(after(...times(19, denied()))), undefined);
    assert.equal(haltingEndpoint(after(...times(20, denied()))), 'gpt');
  });

  it('are counted apart for each endpoint', () => {
    assert.equal(haltingEndpoint(after(...times(19, denied()), ...times(19, denied('other')))), undefined);
  });

  it('begin again after a run that was played', () => {
    assert.equal(haltingEndpoint(after(...times(19, denied()), played, denied())), undefined);
  });

  it('are not ended by another variant, whose endpoints are others', () => {
    const bad = { ...denied(), variant: 'b' };
    const good = { ...played, variant: 'a' };
    assert.equal(haltingEndpoint(after(...times(20, bad).flatMap((run) => [run, good]))), 'gpt');
    assert.equal(haltingEndpoint(after(...times(19, bad), { ...played, variant: 'b' }, bad)), undefined);
  });

  it('are not ended by runs that something else broke, nor lengthened', () => {
    const lost: Run = { blame: 'infrastructure', code: 'unavailable', played: false };
    assert.equal(haltingEndpoint(after(...times(19, denied()), ...times(50, lost))), undefined);
    assert.equal(haltingEndpoint(after(...times(19, denied()), lost, denied())), 'gpt');
  });

  it('are named by their code where no endpoint is known', () => {
    const [streak] = after({ blame: 'configuration', code: 'not_found', played: false });
    assert.deepEqual([streak?.endpoint, streak?.count], ['not_found', 1]);
  });
});
