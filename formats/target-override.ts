import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import { UsageError } from '../domain/usage-error.ts';
import { parseYamlDocument } from './document.ts';
import type { Edit } from './edited-document.ts';

const from = '--target';

/**
 * The edits of `--target`: a module file, a YAML or JSON file that holds a target (as under `target:`), or an address.
 * An address is POSTed `{message, session_id, messages}` and answers `{reply, tool_calls, session_id}` where the sweep has
 * no target; else it takes the place of the HTTP target's server; one with a path also of its `send.url`.
 * Throws a UsageError where there is no such file, or no HTTP target whose address it could replace.
 */
export function targetEdits(
  value: Json,
  target: string,
  readText: (path: string) => string | undefined,
): readonly Edit[] {
  const isTargetless = isJsonObject(value) && value.target === undefined && value.targets === undefined;
  if (/^https?:\/\//i.test(target)) {
    return isTargetless
      ? [{ path: ['target'], value: plainTarget(target), from }]
      : addressEdits(value, target);
  }
  const others: Edit = { path: ['targets'], value: undefined, from };
  if (/\.[cm]?[jt]s$/.test(target)) return [others, { path: ['target'], value: { module: target }, from }];
  const text = readText(target);
  if (text === undefined) throw new UsageError({ message: `${from}: there is no file ${target}` });
  return [others, { path: ['target'], value: parseYamlDocument(text, target, () => undefined).value, from }];
}

/** What an address alone means: it gets and gives messages under their plain names. */
function plainTarget(url: string): Json {
  const body = { message: '{latest_message}', session_id: '{session_id}', messages: '{message_history}' };
  return {
    http: { send: { url, body, reply: 'reply', tool_calls: 'tool_calls', session_id: 'session_id' } },
  };
}

// What stands before the path: a server's address, or a reference to one.
const server = /^(?:https?:\/\/[^/?#]+|\$\{[A-Z_][A-Z0-9_]*\})/i;

function addressEdits(value: Json, address: string): readonly Edit[] {
  const http = httpOf(value);
  const oldServer = server.exec(urlOf(http?.send) ?? '')?.[0];
  if (http === undefined || oldServer === undefined) {
    const hint = 'use a module or a file with a target instead, or --set targets.NAME.http.send.url=URL';
    throw new UsageError({
      message: `${from}: the sweep has no single HTTP target to take ${address} for`,
      hint,
    });
  }
  const newServer = server.exec(address)?.[0] ?? address;
  const isWhole = /^\/?$/.test(address.slice(newServer.length));
  return ['auth', 'start', 'send', 'end'].flatMap((key) => {
    const url = urlOf(http[key]);
    if (url === undefined || !url.startsWith(oldServer)) return [];
    const moved = newServer + url.slice(oldServer.length);
    return [
      { path: ['target', 'http', key, 'url'], value: key === 'send' && !isWhole ? address : moved, from },
    ];
  });
}

function httpOf(value: Json): JsonObject | undefined {
  const target = isJsonObject(value) ? value.target : undefined;
  return isJsonObject(target) && isJsonObject(target.http) ? target.http : undefined;
}

function urlOf(request: Json | undefined): string | undefined {
  return isJsonObject(request) && typeof request.url === 'string' ? request.url : undefined;
}
