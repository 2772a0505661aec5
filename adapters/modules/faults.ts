import { type Blame, Fault } from '../../domain/fault.ts';
import type { Problem } from './protocol.ts';
import type { ThreadOutcome } from './thread-host.ts';

/** What is called, for messages: a file of the project and one of its functions. */
export type CallName = {
  readonly file: string;
  readonly name: string;
  /** Makes a stack of the user's code readable: paths relative to the project, secrets hidden. */
  readonly tidy: (stack: string) => string;
};

const wayOut =
  'types are stripped, not compiled: write `as const` objects for enums, fields for parameter properties, modules for namespaces';

/** The fault of a problem: what the file is, is configuration; what its code does, is blamed as the caller says. */
export function problemFault(problem: Problem, { file, name, tidy }: CallName, blame: Blame): Fault {
  const call = `${file} ${name}()`;
  switch (problem.kind) {
    case 'load': {
      const place = /^\S+?:\d+$/m.exec(tidy(problem.stack))?.[0] ?? file;
      const hint = problem.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? ` (${wayOut})` : '';
      const code = problem.code.includes('NOT_FOUND') ? 'not_found' : 'invalid_request';
      const message = `${place}: the module cannot be loaded: ${tidy(problem.message)}${hint}`;
      return new Fault(code, message, { blame: 'configuration', endpoint: file });
    }
    case 'no_export': {
      const exported = problem.exports.length === 0 ? 'nothing' : problem.exports.join(', ');
      const message = `${file} exports no function "${name}"; it exports ${exported}`;
      return new Fault('not_found', message, { blame: 'configuration', endpoint: file });
    }
    case 'not_json':
      return new Fault('module_error', `${call}: ${tidy(problem.message)}; answers are JSON`, {
        blame,
        endpoint: file,
      });
    case 'threw':
      return new Fault('module_error', `${call} threw ${tidy(problem.stack)}`, { blame, endpoint: file });
  }
}

/**
 * The fault of a call whose thread is gone. The call that brought it down is at fault; the others are of unknown fate
 * and may be tried again, and where another file brought it down they are not to blame.
 */
export function goneFault(
  gone: Extract<ThreadOutcome, { kind: 'gone' }>,
  { file, name }: CallName,
  blame: Blame,
): Fault {
  const call = `${file} ${name}()`;
  if (gone.own) {
    const code = gone.isLoop ? 'timed_out' : 'module_error';
    return new Fault(code, `${call} ${gone.reason}`, { blame, endpoint: file, unsure: true });
  }
  const isOthers = gone.culprit !== undefined && !gone.culprit.startsWith(`${file} `);
  const message = `${call} lost its thread: ${gone.culprit ?? 'a call in it'} ${gone.reason}`;
  return new Fault('unavailable', message, {
    blame: isOthers ? 'infrastructure' : blame,
    endpoint: file,
    unsure: true,
  });
}

/** A stack of user code: paths relative to the project, no frames of Node or of this program, 12 lines at most. */
export function tidyStack(stack: string, project: { readonly folder: string; readonly url: string }): string {
  const text = stack.replaceAll(`${project.url}/`, '').replaceAll(`${project.folder}/`, '');
  const lines = text
    .split('\n')
    .filter((line) => !/^\s+at .*(node:internal|modules\/thread\.[jt]s)/.test(line));
  return lines.slice(0, 12).join('\n').trim().slice(0, 4_000);
}
