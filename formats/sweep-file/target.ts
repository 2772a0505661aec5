import type { z } from 'zod';
import { isJsonObject, type Json } from '../../domain/json.ts';
import { foldId, idMistake } from '../../domain/run-id.ts';
import type {
  ChatTarget,
  ModuleRef,
  ModuleTarget,
  TargetKind,
  TargetSpec,
  ToolSpec,
} from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import { describe } from '../shape-mistakes.ts';
import { readHttpTarget } from './http-target.ts';
import type { Reader } from './reader.ts';
import { type chatSchema, targetSchema } from './schema.ts';

const kinds = ['chat', 'http', 'module', 'queue', 'script'] as const;

/** `target`, or the variants of `targets`. */
export function readTargets(
  reader: Reader,
  target: Json | undefined,
  targets: Json | undefined,
): readonly TargetSpec[] {
  if (target !== undefined && targets !== undefined) {
    reader.refuse(
      ['targets'],
      '"target" and "targets" cannot both be there',
      'variants are keys of `targets`',
    );
  }
  if (targets !== undefined) return readVariants(reader, targets);
  if (target === undefined) {
    reader.refuse(['target'], '"target" is missing', `one of ${kinds.join(', ')}`);
    return [];
  }
  const read = readTarget(reader, target, ['target']);
  return read === undefined ? [] : [read];
}

function readVariants(reader: Reader, targets: Json): readonly TargetSpec[] {
  if (!isJsonObject(targets) || Object.keys(targets).length === 0) {
    reader.refuse(['targets'], `must be a map of variants, not ${describe(targets)}`);
    return [];
  }
  const folded = new Set<string>();
  return Object.entries(targets).flatMap(([variant, value]) => {
    const path = ['targets', variant];
    const wrong = folded.has(foldId(variant))
      ? `the variant "${variant}" is there twice`
      : idMistake(variant);
    if (wrong !== undefined) reader.refuse(path, wrong, 'letter case does not count');
    folded.add(foldId(variant));
    const read = readTarget(reader, value, path);
    return read === undefined ? [] : [{ ...read, variant }];
  });
}

function readTarget(reader: Reader, value: Json, path: Path): TargetSpec | undefined {
  const raw = reader.shaped(targetSchema, value, path);
  if (raw === undefined) return undefined;
  const kind = readKind(reader, raw, path);
  if (kind === undefined) return undefined;
  const limits = readCallLimits(reader, raw, path);
  return {
    ...kind,
    retries: limits.retries ?? defaults['target.retries'],
    idempotent: limits.idempotent ?? defaults['target.idempotent'],
    onUnsureTurn: raw.on_unsure_turn ?? defaults['target.on_unsure_turn'],
    onLostSession: raw.on_lost_session ?? defaults['target.on_lost_session'],
    targetFaults: raw.target_faults ?? defaults['target.target_faults'],
    ...present({ maxParallelRequests: limits.max_parallel_requests }),
  };
}

const limitKeys = ['retries', 'idempotent', 'max_parallel_requests'] as const;

/** Of an HTTP target they may stand under `http` or beside it, but not in both places. */
function readCallLimits(reader: Reader, raw: z.output<typeof targetSchema>, path: Path) {
  const { http = {} } = raw;
  for (const key of limitKeys) {
    if (raw[key] === undefined || http[key] === undefined) continue;
    reader.refuse([...path, 'http', key], `"${key}" is there twice: under http and beside it`);
  }
  return {
    retries: http.retries ?? raw.retries,
    idempotent: http.idempotent ?? raw.idempotent,
    max_parallel_requests: http.max_parallel_requests ?? raw.max_parallel_requests,
  };
}

function readKind(reader: Reader, raw: z.output<typeof targetSchema>, path: Path): TargetKind | undefined {
  const given = kinds.filter((kind) => raw[kind] !== undefined);
  if (given.length !== 1) {
    const message =
      given.length === 0
        ? 'the target has no kind'
        : `the target has ${given.length} kinds: ${given.join(', ')}`;
    reader.refuse(path, message, `exactly one of ${kinds.join(', ')}`);
    return undefined;
  }
  if (raw.chat !== undefined) return readChat(reader, raw.chat, [...path, 'chat']);
  if (raw.http !== undefined) return readHttpTarget(reader, raw.http, [...path, 'http']);
  if (raw.module !== undefined) return readModule(reader, raw.module, [...path, 'module']);
  if (raw.queue !== undefined)
    return { kind: 'queue', queue: typeof raw.queue === 'string' ? raw.queue : raw.queue.name };
  const replies = raw.script?.replies ?? [];
  replies.forEach((reply, index) => {
    reader.template(reply, { path: [...path, 'script', 'replies', index], place: 'http_target' });
  });
  return { kind: 'script', replies };
}

function readModule(
  reader: Reader,
  raw: NonNullable<z.output<typeof targetSchema>['module']>,
  path: Path,
): ModuleTarget | undefined {
  if (typeof raw === 'string') return moduleTarget(reader.module(raw, path));
  const { calls, batch_size: batchSize } = raw;
  if (batchSize !== undefined && calls !== 'batch')
    reader.refuse([...path, 'batch_size'], 'only batches have a size', 'write `calls: batch`');
  return moduleTarget(reader.module(raw.file, [...path, 'file']), present({ calls, batchSize }));
}

function moduleTarget(
  module: ModuleRef | undefined,
  more: Pick<ModuleTarget, 'calls' | 'batchSize'> = {},
): ModuleTarget | undefined {
  return module === undefined ? undefined : { kind: 'module', module, ...more };
}

function readChat(reader: Reader, raw: z.output<typeof chatSchema>, path: Path): ChatTarget {
  const template = (text: string | undefined, ...inner: Path) =>
    text === undefined
      ? undefined
      : reader.template(text, { path: [...path, ...inner], place: 'chat_target' });
  (raw.dialog ?? []).forEach(({ content }, index) => {
    template(content, 'dialog', index, 'content');
  });
  const tools = Object.entries(raw.tools ?? {}).flatMap(([name, tool]): readonly ToolSpec[] => {
    const module = reader.module(tool.module, [...path, 'tools', name, 'module']);
    const { description, schema } = tool;
    return module === undefined ? [] : [{ name, schema, module, ...present({ description }) }];
  });
  return {
    kind: 'chat',
    model: reader.model(raw.model, [...path, 'model']),
    dialog: raw.dialog ?? [],
    tools,
    maxToolSteps: raw.max_tool_steps ?? defaults['target.chat.max_tool_steps'],
    ...present({
      system: template(raw.system, 'system'),
      user: template(raw.user, 'user'),
      temperature: raw.temperature,
    }),
  };
}
