import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSecrets } from '../../adapters/secrets.ts';
import { createLog, type LogLevel, temporalLogger } from '../../workers/log.ts';

function aLog(level: LogLevel = 'info') {
  const lines: string[] = [];
  const env = { REGATTA_SECRET_KEY: 'sk-12345678' };
  const { redact } = createSecrets({ env, allowed: ['REGATTA_SECRET_*'] });
  const log = createLog({ level, output: { write: (line) => lines.push(line) }, redact });
  return { log, lines, events: () => lines.map((line) => JSON.parse(line)) };
}

describe("a worker's log", () => {
  it('is one JSON object a line, with time, level and fields', () => {
    const { log, lines, events } = aLog();
    log.info({ queue: 'regatta.shop' }, 'worker started');
    const [{ time, ...event }] = events();
    assert.deepEqual(event, { level: 'info', queue: 'regatta.shop', msg: 'worker started' });
    assert.equal(new Date(time).toISOString(), time);
    assert.match(lines[0] ?? '', /^\{.*\}\n$/);
  });

  it('leaves out what is below its level', () => {
    const { log, lines } = aLog('warn');
    log.info('small talk');
    assert.deepEqual(lines, []);
  });

  it('hides a secret wherever it stands: in a field, in a message, in an error and its cause', () => {
    const { log, lines } = aLog();
    const error = new Error('Bearer sk-12345678', { cause: new Error('sk-12345678 again') });
    log.error({ error, header: 'sk-12345678' }, 'sent sk-12345678');
    assert.equal(lines.join('').includes('sk-12345678'), false);
    assert.equal(lines.join('').split('$' + '{REGATTA_SECRET_KEY}').length - 1, 4);
  });

  it('keeps the name, the message and the frames of an error, and its cause', () => {
    const { log, events } = aLog();
    log.error({ error: new TypeError('no queue', { cause: new Error('no file') }) }, 'the worker broke');
    const [{ error }] = events();
    assert.deepEqual([error.name, error.message, error.cause.message], ['TypeError', 'no queue', 'no file']);
    assert.match(error.stack, /^ {4}at .*log\.test\.ts/);
  });

  it('cuts long messages of errors, which may quote what came back', () => {
    const { log, events } = aLog();
    log.error({ error: new Error('x'.repeat(5_000)) }, 'the call failed');
    assert.equal(JSON.stringify(events()).includes('x'.repeat(501)), false);
  });
});

describe("Temporal's messages", () => {
  it('come with their ids; a run id of Temporal is an execution here', () => {
    const { log, events } = aLog();
    temporalLogger(log).warn('Activity failed', {
      workflowId: 'night/refund/1',
      runId: '0190-abc',
      activityType: 'converse',
      attempt: 2,
      isLocal: false,
    });
    const [{ time: _, ...event }] = events();
    assert.deepEqual(event, {
      level: 'warn',
      workflowId: 'night/refund/1',
      executionId: '0190-abc',
      activityType: 'converse',
      attempt: 2,
      isLocal: false,
      msg: 'Activity failed',
    });
  });

  it('come with their errors, and never with whole objects: those may be payloads', () => {
    const { log, lines, events } = aLog();
    const meta = { error: new Error('no answer'), input: { text: 'I want my money back' }, args: ['hello'] };
    temporalLogger(log).error('Activity failed', meta);
    assert.equal(events()[0].error.message, 'no answer');
    assert.doesNotMatch(lines.join(''), /money|hello/);
  });

  it('keep their levels', () => {
    const { log, events } = aLog('trace');
    const logger = temporalLogger(log);
    logger.log('TRACE', 'a');
    logger.log('ERROR', 'b');
    logger.debug('c', { taken: 3n });
    assert.deepEqual(
      events().map(({ level, msg }) => [level, msg]),
      [
        ['trace', 'a'],
        ['error', 'b'],
        ['debug', 'c'],
      ],
    );
  });
});
