import type { Json } from './json.ts';
import type { Verdict } from './outcome.ts';
import type { ModuleRef } from './sweep-spec.ts';

/** Which part of a run a check looks at. */
export type Sees = 'replies' | 'last_reply' | 'transcript' | 'transcript_and_tools';

/** How the scores of a check that is asked at each turn become one. */
export type Rollup = 'any' | 'all' | 'last' | 'mean';

export const runNumbers = [
  'turns',
  'reply_seconds',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'tool_calls',
] as const;

/** A number that every run has. `reply_seconds`: the slowest reply of the run. */
export type RunNumber = (typeof runNumbers)[number];

/** What a check asks. Strings are templates. */
export type CheckKind =
  | {
      readonly kind: 'contains_any' | 'contains_all';
      readonly texts: readonly string[];
      readonly caseSensitive: boolean;
    }
  | {
      readonly kind: 'matches_any' | 'matches_all';
      readonly patterns: readonly string[];
      readonly caseSensitive: boolean;
    }
  | { readonly kind: 'equals'; readonly text: string }
  | { readonly kind: 'is_json' }
  /** Score: 1 - edit distance / longer length. */
  | { readonly kind: 'levenshtein'; readonly text: string }
  | { readonly kind: 'calls_include'; readonly tools: readonly string[]; readonly ordered: boolean }
  | { readonly kind: 'calls_exclude'; readonly tools: readonly string[] }
  | {
      readonly kind: 'call_args';
      readonly tool: string;
      readonly args: Json;
      readonly match: 'subset' | 'deep' | 'exact';
    }
  | { readonly kind: 'max_calls'; readonly max: number; readonly tool?: string }
  | { readonly kind: 'number'; readonly number: RunNumber }
  | JudgeCheck
  | {
      readonly kind: 'code';
      readonly module: ModuleRef;
      /** The function that is asked about a turn, `evaluate(ctx)`; absent: the default export, or `check`. */
      readonly asks?: 'evaluate';
    };

export type JudgeCheck = {
  readonly kind: 'judge';
  /** The name of an entry of `models`. */
  readonly model: string;
  readonly rubric: string;
  readonly answer: JudgeAnswer;
  readonly votes: number;
  /** About the calls of this tool: where none has arguments that were captured, the check fails unasked. */
  readonly tool?: string;
};

/** What a judge may answer: pass or fail, a number on a scale, or a named choice with its score. */
export type JudgeAnswer =
  | { readonly kind: 'pass_fail' }
  | { readonly kind: 'scale'; readonly from: number; readonly to: number }
  | { readonly kind: 'choices'; readonly scores: Readonly<Record<string, number>> };

/** A question asked of a transcript, or of each turn. */
export type CheckSpec = CheckKind & {
  readonly name: string;
  readonly sees: Sees;
  /** After the conversation, after each turn, or after the turn of this number. */
  readonly at: 'end' | 'each_turn' | number;
  readonly rollup: Rollup;
  /** A required check fails the run; a soft one is only tracked. */
  readonly required: boolean;
  /** Turns the verdict round. */
  readonly not: boolean;
  /** Asked only of scenarios with this tag. */
  readonly forTag?: string;
  /** Asked only of this scenario, which brought it along. */
  readonly forScenario?: string;
  /** Pass marks; with neither, a score of 1 or more passes (a judge's scale: its upper end). */
  readonly atLeast?: number;
  readonly atMost?: number;
};

/** Whether a check is asked of a scenario: `for_tag` and `forScenario` leave the others out. */
export function isAskedOf(
  { forTag, forScenario }: CheckSpec,
  { id, tags }: { readonly id: string; readonly tags: readonly string[] },
): boolean {
  return (forTag === undefined || tags.includes(forTag)) && (forScenario === undefined || forScenario === id);
}

/** What one check came to for one run. */
export type CheckResult = {
  readonly check: string;
  readonly required: boolean;
  readonly verdict: Verdict;
  /** 0 to 1, or on the check's own scale; absent where undecided. */
  readonly score?: number;
  readonly reason: string;
  /** The first turn that failed, for checks asked at turns. */
  readonly failedTurn?: number;
  /** The scores turn by turn, for checks asked at each turn. */
  readonly turns?: readonly TurnScore[];
  /** SHA-256 of the judge's prompt and model: scores with other hashes are not comparable. */
  readonly judgeHash?: string;
  /** Why it is undecided: the fault's code. */
  readonly faultCode?: string;
};

export type TurnScore = {
  readonly turn: number;
  readonly verdict: Verdict;
  readonly score?: number;
  readonly reason: string;
};
