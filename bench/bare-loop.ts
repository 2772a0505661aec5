import process from 'node:process';
import { Agent, request } from 'undici';

// node bench/bare-loop.ts URL CONVERSATIONS WINDOW TURNS: the least that could be done, as the limit of all else.
// Two calls a turn with the messages so far, nothing kept, nothing retried.

type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

const [url = '', ...counts] = process.argv.slice(2);
const [conversations = 0, window = 1, turns = 1] = counts.map(Number);
const dispatcher = new Agent({ connections: window, keepAliveTimeout: 60_000 });

async function call(messages: readonly Message[]): Promise<string> {
  const response = await request(`${url}/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'practice', messages }),
  });
  if (response.statusCode !== 200) throw new Error(`the model answered ${response.statusCode}`);
  const answer = (await response.body.json()) as { choices: readonly { message: { content: string } }[] };
  return answer.choices[0]?.message.content ?? '';
}

async function converse(number: number): Promise<void> {
  const driver: Message[] = [
    { role: 'system', content: `You are customer ${number}.` },
    { role: 'user', content: 'Begin.' },
  ];
  const target: Message[] = [{ role: 'system', content: `You are a support agent, in talk ${number}.` }];
  for (let turn = 0; turn < turns; turn += 1) {
    const text = await call(driver);
    driver.push({ role: 'assistant', content: text });
    target.push({ role: 'user', content: text });
    const reply = await call(target);
    target.push({ role: 'assistant', content: reply });
    driver.push({ role: 'user', content: reply });
  }
}

let next = 0;
await Promise.all(
  Array.from({ length: window }, async () => {
    while (next < conversations) {
      next += 1;
      await converse(next);
    }
  }),
);
await dispatcher.close();
