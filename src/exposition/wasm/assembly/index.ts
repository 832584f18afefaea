// The kernel: compares copied slots, writes lines as text or as a deflate block, and writes values into protobuf
// messages. The code is AssemblyScript. It allocates no memory and has no static data. Addresses come from
// ../layout.ts, tables from ../kernel.ts.
export { insert, markDirty, relink, sort, storeChanged } from './block';
export { copy, hasNegativeOrNaN, render, writesAll } from './lines';
export {
  bestLineDistance,
  countSymbols,
  deflateAll,
  deflateChanged,
  prepareRecords,
} from './deflate';
export { deflateMessages, messagesWritten, writeValues } from './messages';
export { writeValue } from './values';
