// Components that are asked at one address: a slip of the pen, as a rule.
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
        `is that of components[${earlier}] too, which is thus polled and published twice`,
      );
  });
}
