import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';

/** A practice model that answers conversations only once it is let go. */
export type HeldModel = {
  readonly url: string;
  readonly practice: PracticeModel;
  /** Calls of conversations that wait. */
  waiting(): number;
  release(): void;
  close(): Promise<void>;
};

/** A preflight asks for no more tokens than this. */
const tokensOfProbe = 16;

/** Starts one; probes are answered at once. */
export async function startHeldModel(): Promise<HeldModel> {
  const practice = await startPracticeModel({ latencyMs: 0 });
  const letGo = Promise.withResolvers<void>();
  let waiting = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (!isProbe(body)) {
      waiting += 1;
      await letGo.promise;
      waiting -= 1;
    }
    const answer = await fetch(practice.url.replace('/v1', request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    practice,
    waiting: () => waiting,
    release: letGo.resolve,
    async close() {
      letGo.resolve();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await practice.close();
    },
  };
}

function isProbe(body: string): boolean {
  const { max_tokens, max_completion_tokens = max_tokens } = JSON.parse(body);
  return max_completion_tokens <= tokensOfProbe;
}
