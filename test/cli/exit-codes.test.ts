import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CommandFailure, describeFailure } from '../../cli/exit-codes.ts';
import { Fault } from '../../domain/fault.ts';
import { UsageError } from '../../domain/usage-error.ts';

it('lists every mistake of a usage error on its own line', () => {
  const error = new UsageError([
    { message: 'unknown key', where: { file: 'a.yaml', line: 3, column: 1 } },
    { message: 'no such model', hint: 'did you mean m?' },
  ]);
  const { kind, message, exitCode } = describeFailure(error);
  assert.deepEqual(
    { kind, message, exitCode },
    { kind: 'usage', message: 'a.yaml:3:1: unknown key\nno such model (did you mean m?)', exitCode: 2 },
  );
});

it('sorts what was thrown into the closed kinds', () => {
  const grpc = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'connect refused' });
  const thrown: readonly (readonly [unknown, string, number])[] = [
    [new CommandFailure('unreachable', 'x'), 'unreachable', 5],
    [new CommandFailure('halted', 'x'), 'halted', 6],
    [new CommandFailure('interrupted', 'x'), 'interrupted', 130],
    [new Fault('store_unavailable', 'disk full', { blame: 'infrastructure' }), 'unreachable', 5],
    [new Error('Failed to start Workflow', { cause: grpc }), 'unreachable', 5],
    [new TypeError('x is not a function'), 'bug', 1],
    ['a string', 'bug', 1],
  ];
  for (const [error, kind, exitCode] of thrown) {
    const failure = describeFailure(error);
    assert.deepEqual([failure.kind, failure.exitCode], [kind, exitCode]);
  }
});

it('shows a bug with its stack', () => {
  assert.match(describeFailure(new Error('boom')).message, /^Error: boom\n\s+at /);
});
