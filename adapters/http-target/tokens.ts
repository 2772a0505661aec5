/** What a login brought. */
export type Token = { readonly text: string; readonly expiresInMs?: number };

/** Access tokens of this process, one a rendered auth request. */
export type Tokens = {
  /** The token for a key; calls that come while one is being fetched wait for the same. One that expires is fetched anew. */
  get(key: string, fetch: () => Promise<Token>): Promise<string>;
  /** Forgets a token that was refused, unless another one has taken its place. */
  forget(key: string, refused: string): void;
};

/** More logins than this at once are not kept; the oldest goes first. */
const maxTokens = 1_000;
/** A token is fetched anew before it expires: so much earlier, or a tenth of its time where that is less. */
const aheadMs = 30_000;

type Kept = { readonly promise: Promise<string>; text?: string; staleAt?: number };

/** An empty token cache; `now` in milliseconds of a clock that never goes back. */
export function createTokens(now: () => number = () => performance.now()): Tokens {
  const kept = new Map<string, Kept>();
  return {
    get: (key, fetch) => {
      const known = kept.get(key);
      if (known !== undefined && now() < (known.staleAt ?? Number.POSITIVE_INFINITY)) return known.promise;
      const fetched = fetch();
      const entry: Kept = { promise: fetched.then(({ text }) => text) };
      kept.delete(key);
      kept.set(key, entry);
      for (const oldest of kept.keys()) if (kept.size > maxTokens) kept.delete(oldest);
      fetched.then(
        ({ text, expiresInMs }) => {
          entry.text = text;
          if (expiresInMs !== undefined)
            entry.staleAt = now() + expiresInMs - Math.min(aheadMs, expiresInMs / 10);
        },
        () => kept.get(key) === entry && kept.delete(key),
      );
      return entry.promise;
    },
    forget: (key, refused) => {
      if (kept.get(key)?.text === refused) kept.delete(key);
    },
  };
}
