import { isJsonObject, type Json } from '../domain/json.ts';
import { type Path, pathText, type SourceDocument } from './document.ts';

/** A change to a document that came from elsewhere: `from` names the flag, for messages. */
export type Edit = { readonly path: Path; readonly value: Json | undefined; readonly from: string };

/** The document with its edits applied, in order; `undefined` as a value takes the key away. */
export function editDocument(document: SourceDocument, edits: readonly Edit[]): SourceDocument {
  return {
    value: edits.reduce((value, edit) => withValueAt(value, edit.path, edit.value) ?? null, document.value),
    placeOf: (path, part) => {
      const edit = edits.findLast((candidate) => candidate.path.every((step, index) => step === path[index]));
      return edit === undefined ? document.placeOf(path, part) : { file: edit.from, path: pathText(path) };
    },
  };
}

function withValueAt(container: Json | undefined, path: Path, value: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(container)) {
    return container.map((item, index) => (index === step ? (withValueAt(item, rest, value) ?? null) : item));
  }
  const map = isJsonObject(container) ? container : {};
  const inner = withValueAt(Object.hasOwn(map, step) ? map[step] : undefined, rest, value);
  const { [step]: _, ...others } = map;
  if (inner === undefined) return others;
  return Object.hasOwn(map, step)
    ? Object.fromEntries(Object.entries(map).map(([key, old]) => [key, key === step ? inner : old]))
    : { ...map, [step]: inner };
}
