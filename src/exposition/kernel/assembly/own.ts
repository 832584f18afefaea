// Where an instance of the kernel notes what it needs for a moment. Each has places of its own, since two
// of them may write blocks of one memory at once: ../tables.ts gives the addresses.

/** A value before it is encoded, 48 bytes. */
export declare const VALUE: usize;

/** The references of the line that was written last: likeness.ts. */
export declare const NOTES: usize;

/** How much longer the value of each line of a block is: i8. */
export declare const RESIZED: usize;

/** The sum of the lines that were deflated last: CRC, bytes and bits, u32 each. */
export declare const RESULT: usize;

/** What `prefetch` read is written there, so that it has to be read. */
export declare const PREFETCHED: usize;
