import type { TargetReply } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';

/** No message of a conversation is larger. */
export const maxMessageBytes = 256 * 1024;

/** Throws a `Fault` too_large, blame target, where a reply with its tool calls and metadata is over 256 KB. */
export function checkSize(
  reply: TargetReply,
  at: { readonly what: string; readonly endpoint: string },
): void {
  const { text, toolCalls, metadata } = reply;
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify([toolCalls, metadata ?? null]));
  if (bytes <= maxMessageBytes) return;
  const message = `${at.what} answered with a message of ${bytes} bytes; ${maxMessageBytes} are allowed`;
  throw new Fault('too_large', message, { blame: 'target', endpoint: at.endpoint });
}
