import { wordHint } from '../../domain/closest.ts';
import type { Path } from '../document.ts';
import type { TranscriptReader } from './reader.ts';
import type { RawJudge } from './schema.ts';

/**
 * The entry of `models` that a judge means: its key, or of `provider:model` the entry named `provider`, else the one
 * with that model id; without a name the judge of the sweep. Refuses what means none.
 */
export function judgeModel(
  { defaults: { judge, models }, refuse }: TranscriptReader,
  { model }: RawJudge,
  path: Path,
): string | undefined {
  const keys = [...models.keys()];
  if (model === undefined) {
    if (judge !== undefined) return judge;
    const hint = '`model: NAME` here, `judge: NAME` at the top of the sweep, or --judge-model';
    refuse(path, 'nobody judges this: the sweep has no judge', hint);
    return undefined;
  }
  const entry = entryNamed(models, model);
  if (entry !== undefined) return entry;
  const hint = keys.length === 0 ? 'the sweep has no `models`' : wordHint(model, keys);
  refuse([...path, 'model'], `there is no model "${model}"`, hint);
  return undefined;
}

function entryNamed(models: ReadonlyMap<string, string>, name: string): string | undefined {
  if (models.has(name)) return name;
  const colon = name.indexOf(':');
  const [provider, id] = colon === -1 ? [name, name] : [name.slice(0, colon), name.slice(colon + 1)];
  if (models.has(provider)) return provider;
  return [...models].find(([, model]) => model === id || model === name)?.[0];
}
