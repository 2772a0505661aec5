/** Marks text for a person's terminal. */
export type Paint = (text: string) => string;

export type Style = {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
};

/** Colours where they may be used, else text as it is. */
export function createStyle({ hasColour }: { readonly hasColour: boolean }): Style {
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      hasColour && text !== '' ? `\u001B[${on}m${text}\u001B[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}

const good: readonly string[] = ['open', 'pass', 'passed', 'ok'];
const bad: readonly string[] = ['shut', 'fail', 'failed'];

/** A gate, a verdict or an outcome in its colour: green is good, red is bad, yellow is not known. */
export function paintWord(style: Style, word: string): string {
  const name = word.toLowerCase();
  const paint = good.includes(name) ? style.green : bad.includes(name) ? style.red : style.yellow;
  return paint(word);
}
