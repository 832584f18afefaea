// Addresses and sizes in the kernel's memory, for both compilers: TypeScript and AssemblyScript. The drawings are in
// assembly/block.ts, deflate.ts and lines.ts.

/** The number of bits of an entry number. */
export const ENTRY_BITS = 11;
/** The maximum number of lines of a block. */
export const MAX_LINES = 1 << ENTRY_BITS;

/** Holds the number of slots whose words differed in the last call of `storeChanged`. */
export const CHANGED_WORDS_AT = 12;
/** Holds the address of the table of scales. A scale is a multiplier and a divisor, both doubles. */
export const SCALES_POINTER = 16;
/** Holds the address of the tables of assembly/crc.ts. */
export const CRC_TABLES_POINTER = 24;
/** Holds the address of the table of blocks, which has the header address of each block, by block number. */
export const BLOCKS_POINTER = 40;
/** The powers of ten: 617 entries of 16 bytes. */
export const POW10_AT = 64;
/** The text of a value before it is compressed, 48 bytes. */
export const VALUE_AT = 9936;
/** The matches of the line that was compressed last: assembly/line-diff.ts. */
export const MATCHES_AT = VALUE_AT + 48;
/** The total of the block that was compressed last: raw CRC, bytes and bits, u32 each. */
export const DEFLATE_RESULT_AT = VALUE_AT + 64;
/** The kernel stores the result of prefetching reads here, so that the compiler keeps the reads. */
export const PREFETCH_RESULT_AT = VALUE_AT + 76;
/** For each line of a block, by how much the length of its value changed: i8. */
export const LENGTH_DELTAS_AT = VALUE_AT + 80;
/** The first free byte. */
export const FREE_AT = LENGTH_DELTAS_AT + MAX_LINES;

/** A cell: a value of 8 bytes, its word, and the id of the first line that shows it. */
export const CELL_BYTES = 16;
/** The sizes of an entry of a block and of its key. */
export const ENTRY_BYTES = 20;
export const KEY_BYTES = 16;
/** The offset of the change bitmaps in a block's header. */
export const CHANGES_OFFSET = 40;

/** The record of a compressed line, and the total of a line or a group of lines: assembly/deflate.ts. */
export const RECORD_BYTES = 24;
export const DEFLATE_TOTALS_SIZE = 12;
export const GROUP_BITS = 5;

/** The offset of the blocks in a chunk's table, and the size of each: assembly/lines.ts. */
export const CHUNK_BLOCKS_OFFSET = 4;
export const CHUNK_BLOCK_BYTES = 16;
/** The bytes of scratch memory that `rewrite` needs for each value. */
export const REWRITE_VALUE_BYTES = 32;
