import type { Dispatcher } from 'undici';
import type { CallOptions, TargetCall } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import type { HttpAuth, HttpRequestSpec } from '../../domain/sweep-spec.ts';
import { type Deadline, openDeadline } from '../deadline.ts';
import type { CheckHost } from '../hosts.ts';
import type { Secrets } from '../secrets.ts';
import { rendering, targetVariables } from '../target-variables.ts';
import type { Turnstile } from '../turnstile.ts';
import {
  type Expected,
  excerptOf,
  exchange,
  expectAnswer,
  gaveUp,
  type HttpAnswer,
  isExpected,
  nameOf,
  type RawAnswer,
} from './exchange.ts';
import { type AnswerName, readAnswer } from './reply.ts';
import { type HttpRequest, renderRequest } from './request.ts';
import { createTokens, type Token, type Tokens } from './tokens.ts';

export type HttpTargetParts = {
  readonly agent: Dispatcher;
  readonly secrets: Pick<Secrets, 'resolve' | 'redact' | 'learn'>;
  readonly checkHost: CheckHost;
  readonly turnstile: Turnstile;
};

/** An expected answer, and how messages name the request that it answers. */
export type Answered = { readonly answer: HttpAnswer; readonly name: AnswerName };

export type AskOptions = {
  /** Sent unless the file's own headers say otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The request names a session that the target had given: 404 means that it is lost. */
  readonly namesSession?: boolean;
  readonly streaming?: Expected['streaming'];
};

/** Makes one call of a target: waits for its turn, logs in where it must, sends, and expects the status. */
export type Ask = (
  spec: HttpRequestSpec,
  call: TargetCall,
  options: CallOptions,
  more?: AskOptions,
) => Promise<Answered>;

type Sent = { readonly raw: RawAnswer; readonly request: HttpRequest; readonly token: string | undefined };

/** The caller of one target; it keeps the target's access tokens. `timeoutMs` covers everything but the turnstile. */
export function createCaller(auth: HttpAuth | undefined, parts: HttpTargetParts): Ask {
  const tokens = createTokens();
  return async (spec, call, options, more = {}) => {
    const leave = await parts.turnstile.enter(options.order, options.signal);
    const deadline = openDeadline(options.timeoutMs, options.signal);
    const login = auth === undefined ? undefined : prepareLogin(auth, call, { tokens, parts });
    try {
      const first = await sendOnce(spec, call, {
        deadline,
        more,
        parts,
        token: await login?.token(deadline),
      });
      const isRefused = first.raw.status === 401 && !isExpected(401, spec.status) && login !== undefined;
      if (!isRefused) return expectSent(first, spec, more, parts);
      login.forget(first.token);
      const token = await login.token(deadline);
      return expectSent(await sendOnce(spec, call, { deadline, more, parts, token }), spec, more, parts);
    } finally {
      deadline.close();
      leave();
    }
  };
}

async function sendOnce(
  spec: HttpRequestSpec,
  call: TargetCall,
  {
    deadline,
    more,
    parts,
    token,
  }: {
    readonly deadline: Deadline;
    readonly more: AskOptions;
    readonly parts: HttpTargetParts;
    readonly token: string | undefined;
  },
): Promise<Sent> {
  const rendered = rendering(call, () =>
    renderRequest(spec, targetVariables(call, token), parts.secrets.resolve),
  );
  const request = { ...rendered, headers: { ...more.headers, ...rendered.headers } };
  parts.checkHost(request.url);
  const name = nameOf(request, hiding(token, parts));
  const expected = expectedOf(spec, more);
  return { raw: await exchange(request, { agent: parts.agent, deadline, name, expected }), request, token };
}

function expectedOf(
  { status }: HttpRequestSpec,
  { namesSession = false, streaming }: AskOptions,
): Expected & { readonly namesSession: boolean } {
  return {
    namesSession,
    ...(status === undefined ? {} : { status }),
    ...(streaming === undefined ? {} : { streaming }),
  };
}

function expectSent(sent: Sent, spec: HttpRequestSpec, more: AskOptions, parts: HttpTargetParts): Answered {
  const redact = hiding(sent.token, parts);
  const name = nameOf(sent.request, redact);
  const answer = expectAnswer(sent.raw, expectedOf(spec, more), { name, redact });
  return { answer, name: { ...name, excerpt: excerptOf(answer.text, redact) } };
}

function hiding(token: string | undefined, { secrets }: HttpTargetParts): (text: string) => string {
  if (token === undefined || token === '') return secrets.redact;
  return (text) => secrets.redact(text.replaceAll(token, '{access_token}'));
}

type Login = {
  token(deadline: Deadline): Promise<string>;
  forget(refused: string | undefined): void;
};

/** Tokens are kept by the rendered request: a login that names the row's user has one a user. */
function prepareLogin(
  auth: HttpAuth,
  call: TargetCall,
  { tokens, parts }: { readonly tokens: Tokens; readonly parts: HttpTargetParts },
): Login {
  const request = rendering(call, () => renderRequest(auth, targetVariables(call), parts.secrets.resolve));
  const key = JSON.stringify(request);
  const name = nameOf(request, parts.secrets.redact);
  return {
    token: async (deadline) => {
      const token = tokens.get(key, () => fetchToken(auth, request, deadline.ms, parts));
      return unlessOver(token, deadline, () => gaveUp(deadline, name, { unsure: false }));
    },
    forget: (refused) => {
      if (refused !== undefined) tokens.forget(key, refused);
    },
  };
}

/** A deadline of its own: others wait for this token, too, when the caller that asked first gives up. */
async function fetchToken(
  auth: HttpAuth,
  request: HttpRequest,
  timeoutMs: number,
  parts: HttpTargetParts,
): Promise<Token> {
  parts.checkHost(request.url);
  const { redact } = parts.secrets;
  const name = nameOf(request, redact);
  const deadline = openDeadline(timeoutMs);
  try {
    const expected = expectedOf(auth, {});
    const raw = await exchange(request, { agent: parts.agent, deadline, name, expected });
    const answer = expectAnswer(raw, expected, { name, redact });
    // What a login answers is never quoted: it is a secret.
    const reader = readAnswer(answer, { ...name, excerpt: '' });
    const text = reader.text(auth.accessToken);
    if (text === '') throw reader.bad(`answered without an access token at ${auth.accessToken}`);
    parts.secrets.learn(text, '{access_token}');
    const { expiresIn } = auth;
    const seconds = expiresIn === undefined || answer.json === undefined ? 0 : Number(reader.find(expiresIn));
    return { text, ...(seconds > 0 ? { expiresInMs: 1_000 * seconds } : {}) };
  } catch (error) {
    throw error instanceof Fault ? beforeSending(error) : error;
  } finally {
    deadline.close();
  }
}

/** The message itself was not sent yet, whatever became of the login. */
function beforeSending({ code, message, blame, endpoint, retryAfterMs, cause }: Fault): Fault {
  return new Fault(code, message, {
    blame,
    cause,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function unlessOver<T>(promise: Promise<T>, { signal }: Deadline, reason: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(reason());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
