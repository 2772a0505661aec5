import type { Store } from '../activities/ports.ts';
import { createFileStore } from './file-store/index.ts';

/** The store at an address: a folder. */
export function createStore(address: string): Store {
  return createFileStore(address);
}
