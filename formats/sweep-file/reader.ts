import type { z } from 'zod';
import { wordHint } from '../../domain/closest.ts';
import type { Json } from '../../domain/json.ts';
import type { ModelSpec, ModuleRef } from '../../domain/sweep-spec.ts';
import type { TemplatePlace } from '../../domain/template-variables.ts';
import type { Mistake, Place } from '../../domain/usage-error.ts';
import { type Part, type Path, pathText, type SourceDocument } from '../document.ts';
import { envNames } from '../env-references.ts';
import { shapeMistakes } from '../shape-mistakes.ts';

/** What a sweep file refers to and only its caller can reach; paths are relative to the sweep file's folder. */
export type SweepFileContext = {
  readText(path: string): string | undefined;
  expandGlob(pattern: string): readonly string[];
  moduleRef(file: string): ModuleRef | Mistake;
  /** A sound file inside the project: `file` relative to it, SHA-256 in hex; absent: there are none. */
  audio?(file: string): AudioFile | Mistake | undefined;
  /** Throws an Error that names what is wrong with a pattern. */
  compileRegex(pattern: string, flags: { readonly ignoreCase: boolean }): unknown;
  /** SHA-256 in hex. */
  hash(text: string): string;
  priceKnown(model: ModelSpec): boolean;
};

export type AudioFile = { readonly file: string; readonly sha256: string; readonly bytes: Uint8Array };

/** A template as it was found: checked once all scenarios are known. */
export type FoundTemplate = {
  readonly template: Json;
  readonly path: Path;
  readonly place: TemplatePlace;
  /** Only scenarios with this tag meet it. */
  readonly forTag?: string;
};

/** The names that one section of a file defines and others refer to. */
export type Names = { readonly models: readonly string[]; readonly checks: readonly string[] };

/** Reads a document section by section and gathers all that is wrong with it. */
export type Reader = {
  readonly context: SweepFileContext;
  readonly names: Names;
  readonly mistakes: readonly Mistake[];
  readonly templates: readonly FoundTemplate[];
  readonly env: ReadonlySet<string>;
  placeOf(path: Path, part?: Part): Place;
  refuse(path: Path, message: string, hint?: string, part?: Part): void;
  add(mistake: Mistake): void;
  /** The value in the shape that the schema asks for; `undefined`, and mistakes, where it has another. */
  shaped<T>(schema: z.ZodType<T>, value: unknown, path: Path, refuse?: Reader['refuse']): T | undefined;
  /** A template that goes to no endpoint: `${NAME}` has no place in it. */
  template<T extends Json>(template: T, found: Omit<FoundTemplate, 'template'>): T;
  /** Text or a structure that goes to an endpoint and may name environment variables; `found` where it is a template. */
  sent<T extends Json>(value: T, found?: Omit<FoundTemplate, 'template'>): T;
  model(name: string, path: Path): string;
  module(file: string, path: Path): ModuleRef | undefined;
};

/** A reader of one document. */
export function createReader(document: SourceDocument, context: SweepFileContext, names: Names): Reader {
  const mistakes: Mistake[] = [];
  const templates: FoundTemplate[] = [];
  const env = new Set<string>();

  const reader: Reader = {
    context,
    names,
    mistakes,
    templates,
    env,
    placeOf: document.placeOf,
    add: (mistake) => mistakes.push(mistake),
    refuse(path, message, hint, part) {
      mistakes.push({
        message,
        ...(hint === undefined ? {} : { hint }),
        where: document.placeOf(path, part),
      });
    },
    shaped(schema, value, path, refuse = reader.refuse) {
      const parsed = schema.safeParse(value, { reportInput: true });
      if (parsed.success) return parsed.data;
      for (const mistake of shapeMistakes(parsed.error)) {
        refuse([...path, ...mistake.path], mistake.message, mistake.hint, mistake.part);
      }
      return undefined;
    },
    template(template, found) {
      templates.push({ template, ...found });
      for (const name of envNames(template)) {
        reader.refuse(
          found.path,
          `\${${name}} cannot stand here: it would end up in transcripts and reports`,
          'environment variables belong to base_url, api_key and headers of models, and to HTTP targets',
        );
      }
      return template;
    },
    sent(value, found) {
      if (found !== undefined) templates.push({ template: value, ...found });
      for (const name of envNames(value)) env.add(name);
      return value;
    },
    model(name, path) {
      if (!names.models.includes(name)) {
        const hint = names.models.length === 0 ? 'define it under `models`' : wordHint(name, names.models);
        reader.refuse(path, `there is no model "${name}"`, hint);
      }
      return name;
    },
    module(file, path) {
      const found = context.moduleRef(file);
      if ('sha256' in found) return found;
      mistakes.push({ ...found, where: { ...document.placeOf(path), path: pathText(path) } });
      return undefined;
    },
  };
  return reader;
}
