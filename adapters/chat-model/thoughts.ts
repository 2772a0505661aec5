/** The marks between which models think aloud, where their server leaves that to the text. */
const marks: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
];

/**
 * The text without the thoughts at its start. A thought that never ends is all there is; one that was begun in the
 * prompt shows only its end.
 */
export function withoutThoughts(text: string): string {
  let rest = text;
  for (;;) {
    const trimmed = rest.trimStart();
    const mark = marks.find(([open]) => trimmed.startsWith(open));
    if (mark === undefined) break;
    const end = trimmed.indexOf(mark[1]);
    rest = end === -1 ? '' : trimmed.slice(end + mark[1].length).trimStart();
  }
  const end = rest.indexOf('</think>');
  const isBegunInPrompt = end !== -1 && !rest.slice(0, end).includes('<think>');
  return isBegunInPrompt ? rest.slice(end + '</think>'.length).trimStart() : rest;
}
