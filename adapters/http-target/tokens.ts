/** Access tokens of this process, one a rendered auth request. */
export type Tokens = {
  /** The token for a key; calls that come while one is being fetched wait for the same. */
  get(key: string, fetch: () => Promise<string>): Promise<string>;
  /** Forgets a token that was refused, unless another one has taken its place. */
  forget(key: string, refused: string): void;
};

/** More logins than this at once are not kept; the oldest goes first. */
const maxTokens = 1_000;

/** An empty token cache. */
export function createTokens(): Tokens {
  const kept = new Map<string, { readonly promise: Promise<string>; token?: string }>();
  return {
    get: (key, fetch) => {
      const known = kept.get(key);
      if (known !== undefined) return known.promise;
      const entry: { readonly promise: Promise<string>; token?: string } = { promise: fetch() };
      kept.set(key, entry);
      for (const oldest of kept.keys()) if (kept.size > maxTokens) kept.delete(oldest);
      entry.promise.then(
        (token) => {
          entry.token = token;
        },
        () => kept.get(key) === entry && kept.delete(key),
      );
      return entry.promise;
    },
    forget: (key, refused) => {
      if (kept.get(key)?.token === refused) kept.delete(key);
    },
  };
}
