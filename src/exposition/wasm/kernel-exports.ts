// What assembly/index.ts exports, typed.

/** Blocks are given by the address of their header, chunks and cells by their own. */
export interface KernelExports {
  touch(cell: number): void;
  insert(
    block: number,
    index: number,
    entry: number,
    line: number,
    owner: number,
    sub: number,
    hash: number,
    name: number,
    labels: number,
    cell: number,
    op: number,
  ): number;
  sort(block: number, old: number, fresh: number, from: number, to: number): void;
  absorb(cells: number, values: number, words: number, count: number, out: number): number;
  changedWatches(table: number, count: number, out: number): number;
  hasForbidden(block: number, nameBytes: number): number;
  staleness(chunk: number): number;
  chunkChanges(chunk: number): number;
  renderAll(chunk: number, to: number): number;
  renderChanged(chunk: number, from: number, bytes: number, to: number): number;
  rewrite(chunk: number, text: number, bytes: number, room: number): number;
  prepareRecords(block: number): void;
  bestPeriod(block: number, code: number, to: number): number;
  countSymbols(block: number, code: number, to: number): void;
  deflateAll(block: number, code: number, to: number): number;
  deflateChanged(block: number, code: number, from: number, to: number): number;
  writeValue(bits: bigint, op: number, at: number): number;
}
