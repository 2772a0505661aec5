import type { CheckKind, CheckSpec } from '../../../domain/check.ts';
import type { Evidence } from '../../../domain/checks/evidence.ts';
import type { Message, ToolCall } from '../../../domain/transcript.ts';

/** A check that names only what matters. */
export function aCheck<K extends CheckKind>(kind: K, options: Partial<CheckSpec> = {}): K & CheckSpec {
  const common = {
    name: 'it',
    sees: 'replies',
    at: 'end',
    rollup: 'all',
    required: true,
    not: false,
  } as const;
  return { ...common, ...kind, ...options } as K & CheckSpec;
}

/** A conversation of replies, one a turn; the driver says `message N`. */
export function evidenceOf(
  replies: readonly (string | { readonly text: string; readonly calls: readonly ToolCall[] })[],
  more: Partial<Evidence> = {},
): Evidence {
  const transcript = replies.flatMap((reply, index): Message[] => {
    const { text, calls } = typeof reply === 'string' ? { text: reply, calls: [] } : reply;
    return [
      { by: 'driver', turn: index + 1, text: `message ${index + 1}`, toolCalls: [] },
      { by: 'target', turn: index + 1, text, toolCalls: calls },
    ];
  });
  return {
    scenario: { id: 's', input: { order: 4471 }, expected: 'a refund of 20 EUR', tags: [], meta: {} },
    run: { id: 'sweep/s/1', repeat: 1, seed: 11 },
    transcript,
    numbers: [],
    ...more,
  };
}

/** A reply with tool calls: names, or names with arguments. */
export function calling(...calls: readonly ToolCall[]) {
  return { text: 'one moment', calls };
}
