import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { root } from '../test-files.ts';

/** One instruction of a Dockerfile, with its lines joined. */
export type Instruction = { readonly word: string; readonly text: string };

/** The stages of a Dockerfile: each begins with its `FROM`. Comments are left out. */
export async function readStages(path: string): Promise<readonly (readonly Instruction[])[]> {
  const text = (await readFile(path, 'utf8')).replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  const stages: Instruction[][] = [];
  for (const line of text.split('\n').filter((line) => line.trim() !== '')) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, text: rest });
  }
  return stages;
}

/** The name of a stage; the last one may have none. */
export function stageName(stage: readonly Instruction[]): string {
  return /\bAS (\S+)$/.exec(stage[0]?.text ?? '')?.[1] ?? 'image';
}

/** What a stage needs to be performed without a container engine. */
export type Performing = {
  /** The folder that stands for a stage's file system. */
  readonly rootOf: (stage: string) => string;
  /** Runs a shell command in a folder. */
  readonly shell: (command: string, cwd: string) => Promise<void>;
  /** Whether a source of the build context may be seen. */
  readonly isInContext: (path: string) => boolean;
};

/** Performs what a stage says of files and commands, in folders instead of a container. */
export async function performStage(stage: readonly Instruction[], performing: Performing): Promise<void> {
  const files = performing.rootOf(stageName(stage));
  let folder = '/';
  for (const { word, text } of stage) {
    if (word === 'WORKDIR') folder = text;
    if (word === 'COPY') await copy(text, { files, folder, performing });
    if (word === 'RUN') await performing.shell(text, join(files, folder));
    await mkdir(join(files, folder), { recursive: true });
  }
}

type Place = { readonly files: string; readonly folder: string; readonly performing: Performing };

async function copy(text: string, { files, folder, performing }: Place): Promise<void> {
  const words = text.split(/\s+/);
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '.';
  const isFolder = target.endsWith('/') || target === '.' || target === './';
  const base = from === undefined ? root : performing.rootOf(from);
  const into = join(files, target.startsWith('/') ? target : join(folder, target));
  for (const source of words) {
    const to = isFolder && source !== '.' ? join(into, basename(source)) : into;
    await mkdir(dirname(to), { recursive: true });
    await cp(join(base, source), to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => from !== undefined || performing.isInContext(path),
    });
  }
}
