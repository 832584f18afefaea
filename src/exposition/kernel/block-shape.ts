// How many lines a block may have; assembly/block.ts lays it out for as many.

/** Bits of the number of an entry in its block. */
export const ENTRY_BITS = 11;

/** The most lines of a block. */
export const MAX_LINES = 1 << ENTRY_BITS;
