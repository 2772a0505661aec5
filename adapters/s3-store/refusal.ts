/** The HTTP status of what a server refused; undefined where none came back. */
export function statusOf(error: unknown): number | undefined {
  const metadata = field(error, '$metadata');
  const status = field(metadata, 'httpStatusCode');
  return typeof status === 'number' ? status : undefined;
}

/** The server's name for what it refused (`NoSuchKey`, `SlowDown`), or the client's (`TimeoutError`). */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

/** Whether the same request may do better in a moment. */
export function isPassing(error: unknown): boolean {
  if (passingNames.has(nameOf(error))) return true;
  const status = statusOf(error);
  if (status === undefined) return isOfTheNetwork(error);
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** What was refused, in one line. */
export function reasonOf(error: unknown): string {
  const status = statusOf(error);
  if (!(error instanceof Error)) return String(error);
  // An answer to HEAD has no body that could say more.
  if (error.message === 'UnknownError') return `${status}, without a reason`;
  const said = error.message || String(field(error, 'code'));
  const name = error.name === 'Error' || error.name === 'AggregateError' ? '' : `${error.name}: `;
  return `${status === undefined ? '' : `${status} `}${name}${said}`;
}

const passingNames: ReadonlySet<string> = new Set([
  // 409: another conditional put of the same key was under way.
  'ConditionalRequestConflict',
  // 400: the body came too slowly.
  'RequestTimeout',
  // 403: the client has learned the server's time by now.
  'RequestTimeTooSkewed',
  'TimeoutError',
  'SlowDown',
]);

/** Sockets and DNS have codes; a mistake in the set-up (no credentials, say) has none. */
function isOfTheNetwork(error: unknown): boolean {
  return typeof field(error, 'code') === 'string';
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
