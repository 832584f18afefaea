// Where the kernel notes what it needs for a moment: ../tables.ts has the same addresses.

/** A value before it is encoded, 48 bytes. */
export const VALUE: usize = 9936;

/** The references of the line that was written last: likeness.ts. */
export const NOTES: usize = VALUE + 48;

/** The sum of the lines that were deflated last: CRC, bytes and bits, u32 each. */
export const RESULT: usize = VALUE + 64;

/** `prefetch` stores what it read here, so that the compiler keeps the reads. */
export const PREFETCHED: usize = VALUE + 76;

/** How much longer the value of each line of a block is: i8. */
export const RESIZED: usize = VALUE + 80;
