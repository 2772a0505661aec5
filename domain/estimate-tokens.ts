/**
 * About how many tokens a text has: a quarter of its length in UTF-8 bytes, rounded up, and 0 for no text. Common
 * tokenizers take about four bytes a token in English and two to three in other scripts.
 */
export function estimateTokens(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Half of a surrogate pair: the pair is four bytes.
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit < 0x80 ? 1 : unit < 0x800 || isSurrogate ? 2 : 3;
  }
  return Math.ceil(bytes / 4);
}
