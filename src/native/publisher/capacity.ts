// How much a segment holds, and the defaults.

/** How much a segment can hold. Reserved sparsely: only the used part takes memory. */
export interface Capacity {
  readonly records: number;
  readonly stringBytes: number;
  readonly slots: number;
  readonly frameBytes: number;
}

export const DEFAULT_CAPACITY: Capacity = {
  records: 1 << 18,
  stringBytes: 1 << 24,
  slots: 1 << 18,
  frameBytes: 1 << 24,
};
