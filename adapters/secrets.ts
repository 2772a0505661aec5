import { Fault } from '../domain/fault.ts';

/** The environment variables that this process may use, and nothing of their values outside of calls. */
export type Secrets = {
  /** Puts values in the place of `${NAME}`. Throws a configuration `Fault` for a name that is not allowed or not set. */
  resolve(text: string): string;
  /** Puts `${NAME}` in the place of values, also where they are percent-encoded or escaped as JSON. */
  redact(text: string): string;
  /**
   * The same for what is said in a conversation, where nothing but a secret may be changed: only values of at least
   * eight characters, and no plain addresses.
   */
  hide(text: string): string;
  /** A secret that came at run time: from now on hidden everywhere, with `name` in its place. */
  learn(value: string, name: string): void;
  /** Throws one configuration `Fault` that lists every name that is not allowed or not set. */
  prove(names: readonly string[]): void;
};

export type SecretsOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names, or patterns with `*`. */
  readonly allowed: readonly string[];
};

const reference = /\$\{([A-Z_][A-Z0-9_]*)\}/g;

/** Shorter values are left in texts: hiding every `1` would hide the text, not the secret. */
const shortestHiddenValue = 4;
/** Shorter ones are said by chance; keys and tokens are longer. */
const shortestSecret = 8;
/** More secrets of a run time than this are not kept in mind; the oldest goes first. */
const mostLearned = 1_000;
/** An address without a password and without a query is none. */
const plainAddress = /^https?:\/\/[^@?]*$/;

/** Resolves and hides secrets. Values are read once, here; an empty value counts as not set. */
export function createSecrets({ env, allowed }: SecretsOptions): Secrets {
  const isAllowed = nameMatcher(allowed);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== '' && isAllowed(name)) values.set(name, value);
  }
  const hidden = hiddenForms(values, (value) => value.length >= shortestHiddenValue);
  const secret = hiddenForms(values, (value) => value.length >= shortestSecret && !plainAddress.test(value));

  const learned = new Map<string, readonly HiddenForm[]>();
  const withoutLearned = (text: string) =>
    [...learned.values()].reduce((shown, forms) => without(shown, forms), text);

  const complaint = (name: string): Fault | undefined => {
    if (values.has(name)) return undefined;
    if (isAllowed(name)) {
      return new Fault('not_found', `the environment variable ${name} is not set`, {
        blame: 'configuration',
      });
    }
    const message = `the environment variable ${name} may not be used here: allow it with --allow-env ${name}`;
    return new Fault('denied', message, { blame: 'configuration' });
  };

  return {
    resolve: (text) =>
      text.replace(reference, (_, name: string) => {
        const fault = complaint(name);
        if (fault !== undefined) throw fault;
        return values.get(name) ?? '';
      }),
    redact: (text) => withoutLearned(without(text, hidden)),
    hide: (text) => withoutLearned(without(text, secret)),
    learn: (value, name) => {
      if (value.length < shortestSecret || learned.has(value)) return;
      learned.set(value, formsOf(value, name));
      for (const oldest of learned.keys()) if (learned.size > mostLearned) learned.delete(oldest);
    },
    prove: (names) => {
      const faults = names.map(complaint).filter((fault) => fault !== undefined);
      const [first] = faults;
      if (first === undefined) return;
      throw new Fault(first.code, faults.map((fault) => fault.message).join('; '), {
        blame: 'configuration',
      });
    },
  };
}

function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const regexes = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (name) => regexes.some((regex) => regex.test(name));
}

/** A text and what stands in its place. */
type HiddenForm = { readonly form: string; readonly name: string };

function formsOf(value: string, name: string): readonly HiddenForm[] {
  const forms = new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  return [...forms].map((form) => ({ form, name }));
}

function without(text: string, forms: readonly HiddenForm[]): string {
  return forms.reduce((shown, { form, name }) => shown.replaceAll(form, () => name), text);
}

/** Longest first: a value may contain another one. */
function hiddenForms(
  values: ReadonlyMap<string, string>,
  isHidden: (value: string) => boolean,
): readonly HiddenForm[] {
  return [...values]
    .filter(([, value]) => isHidden(value))
    .flatMap(([name, value]) => formsOf(value, `\${${name}}`))
    .sort((a, b) => b.form.length - a.form.length);
}
