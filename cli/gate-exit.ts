import type { Report } from '../domain/report.ts';
import { exitCodes } from './exit-codes.ts';

/** The exit code of a sweep's report: halted (6) before all else, then the gate. */
export function gateExit({ gate, halted }: Pick<Report, 'gate' | 'halted'>): number {
  if (halted !== null) return exitCodes.halted;
  switch (gate) {
    case 'open':
      return exitCodes.done;
    case 'shut':
      return exitCodes.gateShut;
    case 'undecided':
      return exitCodes.gateUndecided;
  }
}
