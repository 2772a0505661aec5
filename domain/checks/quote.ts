const longestQuote = 200;

/** A text for a reason: in double quotes, on one line, at most 200 characters. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `"${shorten(line)}"`;
}

/** The first 200 characters of a text, with an ellipsis where more follow. */
export function shorten(text: string): string {
  return text.length <= longestQuote ? text : `${text.slice(0, longestQuote - 1)}…`;
}

/** Several texts for a reason, quoted and with commas between. */
export function quoteAll(texts: readonly string[]): string {
  return texts.map(quote).join(', ');
}
