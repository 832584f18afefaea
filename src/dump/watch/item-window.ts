// A few items out of many, from a position on.

export interface ItemWindow<T> {
  readonly items: readonly T[];
  /** The position of the first: at most such that the window is full, if there are enough. */
  readonly from: number;
  readonly hasMore: boolean;
}

/** @param all gives the items from the beginning; it is called again if the position is beyond them */
export function itemWindow<T>(all: () => Iterable<T>, from: number, size: number): ItemWindow<T> {
  const items: T[] = [];
  let count = 0;
  for (const item of all()) {
    if (count >= from + size) return { items, from, hasMore: true };
    if (count >= from) items.push(item);
    count++;
  }
  const last = Math.max(0, count - size);
  return from <= last ? { items, from, hasMore: false } : itemWindow(all, last, size);
}
