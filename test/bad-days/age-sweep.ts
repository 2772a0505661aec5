import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 24 * 60 * 60_000;

/**
 * Makes a stored sweep older: every time of its last day (epoch milliseconds), in files and in the names of journal
 * parts, becomes `ms` less. Nothing may play it.
 */
export function ageSweep(folder: string, ms: number): void {
  const now = Date.now();
  const aged = (text: string) =>
    text.replace(/(?<!\d)\d{13}(?!\d)/g, (found) => {
      const at = Number(found);
      return Math.abs(now - at) < dayMs ? String(at - ms) : found;
    });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    writeFileSync(path, aged(readFileSync(path, 'utf8')));
    renameSync(path, join(entry.parentPath, aged(entry.name)));
  }
}
