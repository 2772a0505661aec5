import { Fault } from '../domain/fault.ts';

/** Throws a configuration `Fault` (denied) where this process may not call a URL's host. */
export type CheckHost = (url: URL) => void;

/**
 * Limits where targets and models may point: hosts, with or without a port, `*` for any part (`*.example.com`,
 * `localhost:8000`). No patterns: every host is allowed.
 */
export function allowHosts(patterns: readonly string[]): CheckHost {
  const rules = patterns.map((pattern) => pattern.trim().toLowerCase()).filter((pattern) => pattern !== '');
  if (rules.length === 0) return () => {};
  return (url) => {
    const names = [url.hostname, `${url.hostname}:${portOf(url)}`];
    if (rules.some((rule) => names.some((name) => matches(name, rule)))) return;
    const message = `${url.host} may not be called from here: allow it with --allow-host ${url.host}`;
    throw new Fault('denied', message, { blame: 'configuration', endpoint: url.origin });
  };
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

function matches(name: string, rule: string): boolean {
  const parts = rule.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}
