/** A fact of the driver's brief that has a name: `order` is `4471`, `email` is `ada@example.com`. */
export type Fact = { readonly name: string; readonly value: string };

/** What the practice driver understands of its brief. */
export type Facts = {
  /** What it wants, in its own words and without its numbers: `a refund for my order`. */
  readonly want?: string;
  readonly facts: readonly Fact[];
  readonly angry: boolean;
  /** How long it has waited: `three weeks`. */
  readonly since?: string;
  /** A word that it waits to hear, where the brief quotes one: `once you hear "tracking number"`. */
  readonly awaits?: string;
};

const things = 'order|booking|reservation|invoice|ticket|account|policy|parcel|subscription';
const numbered = new RegExp(
  `\\b(${things})\\b["']?(?:\\s+(?:number|id|no\\.?))?(?:\\s+is)?[\\s:#"']*((?=[\\w-]*\\d)[\\w-]+)`,
  'gi',
);
const named = /\byour ((?:[a-z]+ ){0,2}[a-z]+) is ("[^"]+"|.+?)(?=[.;,]?\s*$|[.;,]\s)/gim;
const wish = /\byou(?:'d| would)? (?:want|like|need|wish) (?:to have )?(.+?)(?=[.;!]\s|[.;!]?$)/im;

/** Reads a driver's brief by fixed patterns. Whatever fits none of them is not known. */
export function factsOf(brief: string): Facts {
  const want = wish.exec(brief)?.[1];
  const since = /\bwait(?:ed|ing)(?: for)? ([a-z0-9]+ (?:day|week|month|hour)s?)\b/i.exec(brief)?.[1];
  const awaits = /\b(?:once|when|until) you hear "([^"]+)"/i.exec(brief)?.[1];
  const facts = [
    ...[...brief.matchAll(named)].map(([, name = '', value = '']) => factOf(name, value)),
    ...[...brief.matchAll(numbered)].map(([, name = '', value = '']) => factOf(name, value)),
  ];
  return {
    ...(want !== undefined && { want: inOwnWords(want) }),
    facts: facts.filter((fact, index) => facts.findIndex((other) => other.name === fact.name) === index),
    angry: /\b(?:angry|furious|annoyed|upset|impatient)\b/i.test(brief),
    ...(since !== undefined && { since }),
    ...(awaits !== undefined && { awaits }),
  };
}

/** Whether a brief says anything that a conversation could be about. */
export function isEmptyBrief(facts: Facts): boolean {
  return facts.want === undefined && facts.facts.length === 0;
}

function factOf(name: string, value: string): Fact {
  const words = name.toLowerCase().replace(/\s+(?:number|id)$/, '');
  return { name: words, value: value.replace(/^["']|["'.,]+$/g, '') };
}

/** Turns `a refund for your order 4471` into `a refund for my order`: numbers are told only when asked for. */
function inOwnWords(text: string): string {
  return text
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I')
    .replace(
      new RegExp(
        `(?:\\b(my|the|an?)\\s+)?\\b(${things})\\b(?:\\s+(?:number|id))?[\\s#]+(?=[\\w-]*\\d)[\\w-]+`,
        'gi',
      ),
      (_, own, thing) => `${own ?? 'my'} ${thing}`,
    );
}
