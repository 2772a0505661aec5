import { existsSync, readFileSync } from 'node:fs';

/** Regatta's own version, from the nearest package.json above this file (a checkout's or the built package's). */
export function regattaVersion(): string {
  let place = new URL('../package.json', import.meta.url);
  if (!existsSync(place)) place = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(place, 'utf8')) as { version: string };
  return version;
}
