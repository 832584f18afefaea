// Warnings about components that share an address, which is probably a mistake.
import { viewOf } from './component-formats.js';
import type { ComponentTable } from './component-table.js';
import type { Notes } from './notes.js';

/** Warns of addresses that an earlier component has. */
export function warnOfSharedAddresses(
  tables: readonly ComponentTable[],
  notesOf: (index: number) => Notes,
): void {
  const first = new Map<string, number>();
  tables.forEach(({ url, index }) => {
    const { href } = viewOf(url);
    const earlier = first.get(href);
    if (earlier === undefined) first.set(href, index);
    else
      notesOf(index).warn(
        'url',
        `is also that of components[${earlier}], which is polled and published twice`,
      );
  });
}
