import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moduleHash } from '../../../adapters/module-hash.ts';
import { createModules, type ModuleHost, type ModulesOptions } from '../../../adapters/modules/index.ts';
import type { ModuleRef } from '../../../domain/sweep-spec.ts';

export type Project = {
  readonly folder: string;
  readonly modules: ModuleHost;
  /** What user code has printed. */
  readonly printed: string[];
  write(file: string, text: string): Promise<ModuleRef>;
  close(): Promise<void>;
};

/** A project folder of real files, and a host for its modules. */
export function openProject(more: Partial<ModulesOptions> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'regatta-modules-')));
  const printed: string[] = [];
  const options = { projectFolder: folder, hashModule: moduleHash, redact: (text: string) => text };
  const log = (text: string) => printed.push(text);
  const modules = createModules({ ...options, log, ...more });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return {
    folder,
    modules,
    printed,
    write: (file, text) => {
      writeFileSync(join(folder, file), text);
      return moduleHash(folder, file);
    },
    close: async () => {
      await modules.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
