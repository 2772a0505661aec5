import { Agent } from 'undici';
import type { Target } from '../../../activities/ports.ts';
import { allowHosts } from '../../../adapters/hosts.ts';
import { createHttpTarget } from '../../../adapters/http-target/index.ts';
import { createSecrets } from '../../../adapters/secrets.ts';
import { createTurnstile } from '../../../adapters/turnstile.ts';
import type { HttpRequestSpec, HttpSend, HttpTarget } from '../../../domain/sweep-spec.ts';

export const env = { REGATTA_SECRET_KEY: 'sk-very-secret' };

/** A POST with no headers. */
export function aRequest<T extends Partial<HttpRequestSpec> & { url: string }>(more: T) {
  return { method: 'POST', headers: {}, ...more };
}

export function aSend(url: string, more: Partial<HttpSend> = {}): HttpSend {
  return { ...aRequest({ url }), body: { message: '{latest_message}' }, reply: 'response.text', ...more };
}

/** A target with its own agent; `close` both. */
export function openTarget(
  spec: Omit<HttpTarget, 'kind'>,
  more: { readonly hosts?: readonly string[]; readonly limit?: number } = {},
): Target & { close(): Promise<void> } {
  const agent = new Agent();
  const target = createHttpTarget(
    { kind: 'http', ...spec },
    {
      agent,
      secrets: createSecrets({ env, allowed: ['REGATTA_SECRET_*'] }),
      checkHost: allowHosts(more.hosts ?? []),
      turnstile: createTurnstile(more.limit),
    },
  );
  return { ...target, close: () => agent.destroy() };
}
