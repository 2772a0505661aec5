import type { Interval } from '../../domain/interval.ts';

/** A whole number with its thousands apart: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** `3 runs`, `1 run`. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** A large number shortly: `950`, `12.3k`, `4.56M`. */
export function shortCount(value: number): string {
  if (value < 1_000) return count(value);
  const isMillions = value >= 999_500;
  return `${Number((value / (isMillions ? 1e6 : 1e3)).toPrecision(3))}${isMillions ? 'M' : 'k'}`;
}

/** A number of bytes: `950 B`, `1.23 MB`, `35 MB`. */
export function bytes(value: number): string {
  if (value < 999.5) return `${count(value)} B`;
  // What would be rounded to 1,000 of a unit is 1 of the next.
  const power = Math.min(4, Math.floor(Math.log10(value * 1.0005) / 3));
  return `${Number((value / 1_000 ** power).toPrecision(3))} ${['kB', 'MB', 'GB', 'TB'][power - 1]}`;
}

/** A time in its two largest units: `420 ms`, `1.2 s`, `59 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? two(hours, 'h', minutes % 60, 'min')
    : two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** US dollars: cents, and below a cent two significant digits. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return `$${Number(usd.toPrecision(2))}`;
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** A share from 0 to 1: `87.9 %`; `-` where there is none. */
export function percent(share: number | null): string {
  return share === null ? '-' : `${Number((share * 100).toFixed(1))} %`;
}

/** `75.1 to 94.6 %`; empty where there is none. */
export function percentRange(interval: Interval | null): string {
  if (interval === null) return '';
  return `${interval.map((end) => Number((end * 100).toFixed(1))).join(' to ')} %`;
}

/** Runs by time: `8.3 runs/s`, and slower than one in a second `12 runs/min`. */
export function pace(perSecond: number): string {
  const value = perSecond >= 1 ? perSecond : perSecond * 60;
  return `${Number(value.toPrecision(value >= 10 ? 3 : 2))} runs/${perSecond >= 1 ? 's' : 'min'}`;
}
