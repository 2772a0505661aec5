import type { ChatRequest } from '../../activities/ports.ts';
import { type Complaint, readComplaint } from './complaint.ts';
import type { Answer } from './exchange.ts';
import { codeOf } from './failure.ts';
import { toolsRefused } from './failure-table.ts';

/** What is known of an endpoint, learned from its refusals. */
export type Traits = {
  readonly tokensParameter: TokensParameter;
  /** A call with this parameter was served, or both were tried. */
  readonly tokensSettled: boolean;
  /** Optional parameters that it refuses. */
  readonly refused: ReadonlySet<string>;
  readonly tools: boolean;
  readonly answerSchema: boolean;
};

type TokensParameter = 'max_tokens' | 'max_completion_tokens';

export type Ability = 'tools' | 'answerSchema';

/**
 * What a refusal teaches: `again` mends the request, `lacks` is an ability that the caller has to do without.
 * Undefined: nothing.
 */
export type Lesson =
  | { readonly kind: 'again'; readonly traits: Traits }
  | { readonly kind: 'lacks'; readonly traits: Traits; readonly ability: Ability };

/** What to believe of an endpoint before the first call: OpenAI's own takes the newer limit of tokens. */
export function firstTraits(baseUrl: string): Traits {
  const isOpenAi = /^https:\/\/([a-z0-9-]+\.)*(api\.openai\.com|openai\.azure\.com)\b/i.test(baseUrl);
  return {
    tokensParameter: isOpenAi ? 'max_completion_tokens' : 'max_tokens',
    tokensSettled: false,
    refused: new Set(),
    tools: true,
    answerSchema: true,
  };
}

/** Reads a refusal of a request whose `sent` optional parameters are named. */
export function learn(
  traits: Traits,
  request: ChatRequest,
  sent: readonly string[],
  answer: Answer,
): Lesson | undefined {
  const complaint = readComplaint(answer.body ?? '');
  const code = codeOf(answer.status, complaint, undefined);
  if (code === 'context_full' || code === 'content_refused') return undefined;
  if (lacksTools(request, answer.status, complaint)) {
    return { kind: 'lacks', ability: 'tools', traits: { ...traits, tools: false } };
  }
  if (answer.status !== 400 && answer.status !== 422) return undefined;
  const candidates = [...sent, ...(request.answerSchema === undefined ? [] : [answerFormat])];
  const named = firstNamed(complaint, [...candidates, traits.tokensParameter]);
  if (named === answerFormat) {
    return { kind: 'lacks', ability: 'answerSchema', traits: { ...traits, answerSchema: false } };
  }
  if (named !== undefined && named !== traits.tokensParameter) {
    return { kind: 'again', traits: { ...traits, refused: new Set([...traits.refused, named]) } };
  }
  // Whether it names the limit of tokens or nothing: the other name is worth a try, once.
  if (request.maxTokens === undefined || traits.tokensSettled) return undefined;
  return {
    kind: 'again',
    traits: { ...traits, tokensParameter: otherOf(traits.tokensParameter), tokensSettled: true },
  };
}

const answerFormat = 'response_format';

/** Other words for a parameter. */
const synonyms: Readonly<Record<string, RegExp>> = {
  [answerFormat]: /response_format|json_schema|structured outputs?|guided_json|guided decoding/,
  tool_choice: /tool_choice|tool choice/,
};

function lacksTools(request: ChatRequest, status: number, complaint: Complaint): boolean {
  if ((request.tools ?? []).length === 0 || ![400, 404, 422, 500, 501].includes(status)) return false;
  if (complaint.params.includes('tools')) return true;
  // A forced tool may be refused where free ones are not.
  if (request.toolChoice !== undefined && firstNamed(complaint, ['tool_choice']) !== undefined) return false;
  return toolsRefused.some((phrase) => phrase.test(complaint.message));
}

/** The parameter that is complained about: named as such, or the first one that the message names. */
function firstNamed({ message, params }: Complaint, names: readonly string[]): string | undefined {
  const asSuch = names.find((name) => params.some((param) => param === name || param.startsWith(`${name}.`)));
  if (asSuch !== undefined) return asSuch;
  const places = names
    .map((name) => ({ name, at: message.search(synonyms[name] ?? new RegExp(`\\b${name}\\b`)) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at);
  return places[0]?.name;
}

function otherOf(name: TokensParameter): TokensParameter {
  return name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
}
