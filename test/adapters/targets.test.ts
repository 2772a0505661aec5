import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from 'undici';
import { allowHosts } from '../../adapters/hosts.ts';
import { createSecrets } from '../../adapters/secrets.ts';
import { createTargets } from '../../adapters/targets.ts';
import { openProject } from './modules/project.ts';
import { aCall, aMessage, isFault, options } from './target-parts.ts';

const common = {
  retries: 3,
  idempotent: false,
  onUnsureTurn: 'restart',
  onLostSession: 'restart',
  targetFaults: 'failed',
} as const;

const project = openProject();
const targets = createTargets({
  agent: new Agent(),
  secrets: createSecrets({ env: {}, allowed: [] }),
  checkHost: allowHosts([]),
  modules: project.modules,
});

test.after(project.close);

test('a script answers in order, repeats its last reply and renders templates', async () => {
  const target = targets.open({
    ...common,
    kind: 'script',
    replies: ['Hi {name}', 'You said {latest_message}'],
  });
  const said = [aMessage('driver', 'a')];
  assert.equal((await target.reply(aCall({ transcript: said }), options())).text, 'Hi Ada');
  for (const latestMessage of ['b', 'c']) {
    said.push(aMessage('target', 'x'), aMessage('driver', latestMessage));
    const reply = await target.reply(aCall({ transcript: said, latestMessage }), options());
    assert.equal(reply.text, `You said ${latestMessage}`);
  }
});

test('a script with a path that the row lacks names the row', async () => {
  const target = targets.open({ ...common, kind: 'script', replies: ['{input.missing}'] });
  await assert.rejects(
    target.reply(aCall(), options()),
    isFault('invalid_request', 'configuration', ['scenario row']),
  );
});

test('equal targets are one, other targets are not', () => {
  const spec = { ...common, kind: 'script', replies: ['a'] } as const;
  assert.equal(targets.open(spec), targets.open({ ...spec }));
  assert.notEqual(targets.open(spec), targets.open({ ...spec, replies: ['b'] }));
});

test('a module target never has more calls open than it allows', async () => {
  const module = await project.write(
    'busy.ts',
    `let open = 0; let most = 0;
     export const start = () => 's';
     export const reply = async () => { open += 1; most = Math.max(most, open); await new Promise((done) => setTimeout(done, 5)); open -= 1; return String(most); };`,
  );
  const target = targets.open({ ...common, kind: 'module', module, maxParallelRequests: 1 });
  const { sessionId = '' } = await target.start(aCall(), options());
  const replies = await Promise.all([1, 2, 3].map(() => target.reply(aCall({ sessionId }), options())));
  assert.deepEqual(
    replies.map(({ text }) => text),
    ['1', '1', '1'],
  );
});
