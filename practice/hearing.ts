const confirmations =
  /\b(?:refunded|money back|booked|confirmed|cancell?ed|replaced|rescheduled|arrives|delivered|upgraded|unlocked|settled|solved|resolved)\b/i;
const doubts =
  /\b(?:not|cannot|can't|won't|unable|once|when|if|will be|until|before|after|shall|should|would)\b|\?/i;
const noes = /\b(?:cannot|can't|unable to|not possible|not able to|won't|not eligible|must decline)\b/i;
const lookups = /\b(?:find|see|locate|understand)\b/i;

/** A text's sentences. */
export function sentencesOf(text: string): readonly string[] {
  return text.match(/[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?]+|$)/g) ?? [];
}

/** Whether a text says that the matter is settled: a sentence with a word such as `refunded`, without doubt in it. */
export function confirms(text: string, awaits?: string): boolean {
  if (awaits !== undefined) return text.toLowerCase().includes(awaits.toLowerCase());
  return sentencesOf(text).some((sentence) => confirmations.test(sentence) && !doubts.test(sentence));
}

/** Whether a text says no. Not finding something is no refusal. */
export function refuses(text: string): boolean {
  return sentencesOf(text).some((sentence) => noes.test(sentence) && !lookups.test(sentence));
}

/** Whether a text asks for something to be told. */
export function asks(text: string): boolean {
  return /\?|\b(?:tell me|give me|send me|share|provide|let me know|i need|we need)\b/i.test(text);
}

/** Whether a text waits for a yes. */
export function offers(text: string): boolean {
  return /(?<!\b(?:how|what|where|when) )\b(?:shall|should|may|can) (?:i|we)\b[^.!]*\?|\b(?:would you like|do you want|is that (?:right|correct|ok))\b/i.test(
    text,
  );
}
