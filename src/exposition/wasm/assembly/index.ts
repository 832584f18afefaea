// The kernel: compares copied slots, and writes lines as text or as a deflate block. The code is AssemblyScript. It
// allocates no memory and has no static data. Addresses come from ../layout.ts, tables from ../kernel.ts.
export { insert, markDirty, relink, sort, storeChanged } from './block';
export { copy, hasNegativeOrNaN, render, writesAll } from './lines';
export {
  bestLineDistance,
  countSymbols,
  deflateAll,
  deflateChanged,
  prepareRecords,
} from './deflate';
export { writeValue } from './values';
