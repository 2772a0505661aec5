/**
 * What servers say when something is not a fault of the call but the end of the conversation, or a matter of money.
 * Codes are compared in lower case with every run of other signs as `_`; phrases are looked for in the message in
 * lower case. A new wording is a new line here and in the test beside it.
 */
export type Wording = { readonly codes: readonly string[]; readonly phrases: readonly RegExp[] };

/** The conversation is longer than what the model or its endpoint takes. */
export const contextFull: Wording = {
  codes: [
    'context_length_exceeded',
    'context_window_exceeded',
    'contextwindowexceedederror',
    'model_context_window_exceeded',
    'exceed_context_size_error',
    'string_above_max_length',
    'request_too_large',
    'prompt_too_long',
    'input_too_long',
    'tokens_limit_reached',
  ],
  phrases: [
    /maximum (context|prompt|sequence|model) length/,
    /context[ _-]?(window|length|size|limit)[^\n]{0,80}(exceed|too (long|large|small)|overflow|full)/,
    /(exceed|greater|longer|larger)[^\n]{0,80}context[ _-]?(window|length|size|limit)/,
    /(prompt|input|request|messages?|conversation|history) (is|are|was) too (long|large)/,
    /(requested|input|prompt) (token count|tokens?)[^\n]{0,80}(exceed|greater|longer)/,
    /too many (input |prompt )?tokens/,
    /reduce the length of (the|your) (messages|prompt|input)/,
    /(model )?token limit exceeded|exceeded model token limit/,
    /input length[^\n]{0,80}exceed|range of input length/,
    /request (entity|too) (is )?too large|payload too large|request too large/,
  ],
};

/** Even where the status is 429 waiting does not help: this one request is larger than a minute's allowance. */
export const requestTooLarge = /request too large/;

/** A filter of the endpoint refused what was said. */
export const contentRefused: Wording = {
  codes: [
    'content_filter',
    'content_filtered',
    'contentfilter',
    'content_policy_violation',
    'contentpolicyviolationerror',
    'responsibleaipolicyviolation',
    'moderation_blocked',
    'data_inspection_failed',
    'datainspectionfailed',
    'invalid_prompt',
    'prohibited_content',
    'safety',
    'cyber_policy_violation',
  ],
  phrases: [
    /content[ _-]?(management policy|filter|polic|moderation)/,
    /content exists risk/,
    /flagged (as|for|by|because)|(was|been) flagged/,
    /(violat\w*|against)[^\n]{0,80}(usage|safety|content|acceptable use|our|moderation) (polic|guideline)/,
    /inappropriate content|unsafe content|sensitive (content|words?|information)/,
    /blocked (by|for|due to) (our |the )?(content|safety|moderation|guardrail)/,
    /considered high risk/,
    /safety (system|filter|setting|reason)/,
  ],
};

/** The reasons that replies with status 200 give for having stopped. */
export const finishReasons: {
  readonly contextFull: readonly string[];
  readonly contentRefused: readonly string[];
  readonly broken: readonly string[];
} = {
  contextFull: [
    'model_context_window_exceeded',
    'context_window_exceeded',
    'context_length_exceeded',
    'context_length',
    'max_context_length',
  ],
  contentRefused: [
    'content_filter',
    'content_filtered',
    'content_moderation',
    'safety',
    'refusal',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'sensitive',
    'guardrail_intervened',
    'moderation',
  ],
  broken: ['error', 'network_error', 'insufficient_system_resource'],
};

/** Quota or money is used up: waiting a minute does not help. */
export const quotaUsedUp: Wording = {
  codes: [
    'insufficient_quota',
    'insufficient_balance',
    'insufficient_credits',
    'insufficient_funds',
    'billing_hard_limit_reached',
    'billing_not_active',
    'exceeded_current_quota_error',
    'payment_required',
    'arrearage',
  ],
  phrases: [
    /exceeded (your|the) (current|monthly) quota/,
    /insufficient (quota|balance|credits?|funds)/,
    /(credits?|balance|quota)[^\n]{0,40}(too low|exhausted|depleted|used up|not enough|insufficient)/,
    /(out of|no more|requires more|purchase|buy|add)( more)? credits/,
    /billing (hard )?limit|check your (plan|billing)|(spend|spending|usage) (limit|cap)\b/,
    /payment required/,
  ],
};

/** Limits that are free again soon, also where the message talks of quota. */
export const soonFreeAgain = /per[ _-]?(minute|min|second|hour)\b|perminute|\b(rpm|tpm|rps)\b|concurren/;

/** The model, not the request, is at fault: it wrote something that its own server could not use. */
export const modelGarbage: Wording = {
  codes: ['tool_use_failed', 'json_validate_failed', 'output_parse_failed'],
  phrases: [/failed to call a function|failed to (parse|generate) (the )?(tool|function) call/],
};

/** The model used up its allowance of tokens before it had said anything. */
export const cutShort = /could not finish the message because max_tokens|output limit was reached/;

/** How servers say that a model or its server has no tools. */
export const toolsRefused: readonly RegExp[] = [
  /(not|n't|no endpoints found that) support[^\n]{0,40}(tools?|function)/,
  /(tools?|functions?|function calling)[^\n]{0,60}(not|n't) (supported|available|enabled|allowed|implemented)/,
  /(tools?|tool choice|functions?)[^\n]{0,60}requires? --/,
  /(unknown|unrecognized|unsupported|unexpected|extra)[^\n]{0,60}\btools\b/,
];
