import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import { findTestFiles, isHeavy, root } from './test-files.ts';

/** `npm test [-- PATTERN...]`: light files side by side, then heavy ones one by one; the last line counts. */

/** A heavy file; all light ones have twice as long. */
const fileLimitMs = 5 * 60_000;
/** A file that is over its limit gets SIGTERM, and SIGKILL where it still lives so much later. */
const killAfterMs = 10_000;
const wholeLimit = AbortSignal.timeout(25 * 60_000);

const counts = { passed: 0, failed: 0, skipped: 0 };
const files = findTestFiles(process.argv.slice(2));

for await (const text of Readable.from(events()).compose(new spec())) process.stdout.write(text);
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
process.stdout.write(`${countLine()}\n`);

/** What happens in all files as one stream, without the runner's own counts: it would count once a group. */
async function* events(): AsyncGenerator<TestEvent> {
  yield* eventsOf(
    files.filter((file) => !isHeavy(file)),
    2 * fileLimitMs,
  );
  for (const file of files.filter(isHeavy)) yield* eventsOf([file], fileLimitMs);
}

async function* eventsOf(group: readonly string[], limitMs: number): AsyncGenerator<TestEvent> {
  if (group.length === 0) return;
  const paths = group.map((file) => join(root, file));
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  const signal = AbortSignal.any([wholeLimit, limit.signal]);
  const ended = new AbortController();
  signal.addEventListener('abort', () => killLater(children()), { signal: ended.signal });
  for await (const event of run({ files: paths, concurrency: availableParallelism(), signal })) {
    switch (event.type) {
      case 'test:summary':
        if (event.data.file === undefined) addCounts(event.data);
        break;
      case 'test:diagnostic':
        if (event.data.file !== undefined) yield event;
        break;
      case 'test:pass':
        yield event;
        // Node counts a file without tests as a test that has passed.
        if (paths.includes(event.data.name)) countEmptyFile(event.data.name);
        break;
      default:
        yield event;
    }
  }
  // What comes after this group is not to be killed for it.
  clearTimeout(timer);
  ended.abort();
}

function killLater(pids: readonly number[]): void {
  setTimeout(() => {
    const left = children();
    for (const pid of pids) if (left.includes(pid)) process.kill(pid, 'SIGKILL');
  }, killAfterMs);
}

/** The processes that this one has started and that still live. */
function children(): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, parent]) => parent === process.pid).map(([pid = 0]) => pid);
}

type Summary = Extract<TestEvent, { type: 'test:summary' }>['data'];

function addCounts({ counts: group, success }: Summary): void {
  counts.passed += group.passed;
  counts.failed += Math.max(group.tests - group.passed - group.skipped - group.todo, success ? 0 : 1);
  counts.skipped += group.skipped + group.todo;
}

function countEmptyFile(file: string): void {
  counts.passed -= 1;
  counts.failed += 1;
  process.stdout.write(`✖ ${file} holds no test\n`);
}

function countLine(): string {
  const { passed, failed, skipped } = counts;
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}
