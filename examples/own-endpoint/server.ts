import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Stands for your own agent: one URL that takes the messages so far and answers with the next one.

type Message = { readonly role: string; readonly content: string };

/** Starts the endpoint; `port` 0 takes any free one. */
export async function start(port = 0): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { messages } = JSON.parse(body) as { messages: readonly Message[] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ answer: answer(messages) }));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(messages: readonly Message[]): string {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const table = /\btable \w*\d+|\b\d+ people\b/i.exec(said.join('\n'))?.[0];
  const day = /\b\w+day\b/i.exec(said.join('\n').replace(/\btoday\b/gi, ''))?.[0];
  if (table === undefined) return 'Gladly. What is the party, how many people?';
  if (day === undefined) return 'And for which day of the week?';
  return `Your table for ${table} on ${day} is booked.`;
}

if (import.meta.main) console.log((await start(Number(process.env.PORT ?? 4030))).url);
