import { RE2JS } from 're2js';
import type { CompileRegex } from '../activities/ports.ts';
import { UsageError } from '../domain/usage-error.ts';
import { toRe2 } from './regex-syntax.ts';

/**
 * Compiles a pattern on a linear-time engine (RE2), so that no pattern can block a worker. The common forms of Python
 * and JavaScript are taken; `test` looks for a match anywhere in the text. Throws `UsageError` that names what is not.
 */
export const compileRegex: CompileRegex = (pattern, { ignoreCase }) => {
  const translated = toRe2(pattern);
  try {
    const compiled = RE2JS.compile(translated, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { test: (text) => compiled.test(text) };
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('RE2JS')) throw error;
    throw patternMistake(pattern, error.message.replace(/^error parsing regexp: /, ''));
  }
};

function patternMistake(pattern: string, said: string): UsageError {
  const possessive = said.startsWith('invalid nested repetition operator');
  return new UsageError({
    message: `the pattern ${JSON.stringify(pattern)} cannot be read: ${possessive ? said.replace('invalid', 'possessive or') : said}`,
    hint: 'patterns are RE2: no look-around, back references, atomic groups or possessive quantifiers; at most 1000 repeats',
  });
}
