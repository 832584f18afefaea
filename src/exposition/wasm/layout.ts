// The layout of the kernel's memory, for both compilers: TypeScript and AssemblyScript. A name in `_AT` is an address, in
// `_POINTER` the address of an address, in `_BYTES` a size, and in `_BITS` a number of bits. The other names with the
// prefix of a structure are offsets in it.

/** The number of bits of an entry number. */
export const ENTRY_BITS = 11;
/** The maximum number of lines of a block. */
export const MAX_LINES = 1 << ENTRY_BITS;

// Fixed addresses.

/** Holds the number of slots whose words differed in the last call of `storeChanged`. */
export const CHANGED_WORDS_AT = 12;
/** Holds the address of the table of scales. A scale is a multiplier and a divisor, both doubles. */
export const SCALES_POINTER = 16;
export const SCALE_BYTES = 16;
/** Holds the address of the CRC tables. */
export const CRC_TABLES_POINTER = 24;
/** Holds the address of the table of blocks. The table has the header address of each block, by block number. */
export const BLOCKS_POINTER = 40;
/** The powers of ten from the lowest exponent to the highest: 128 bits each, high word first. */
export const POWERS_AT = 64;
export const POWER_BYTES = 16;
export const LOWEST_EXPONENT = -292;
export const HIGHEST_EXPONENT = 324;
/** The text of a value (48 bytes) before it is compressed. */
export const VALUE_AT = POWERS_AT + (HIGHEST_EXPONENT - LOWEST_EXPONENT + 1) * POWER_BYTES;
/** The matches of the line that was compressed last: assembly/line-diff.ts. */
export const MATCHES_AT = VALUE_AT + 48;
/** The total of the block that was compressed last: CRC-32, bytes and bits, u32 each. */
export const DEFLATE_RESULT_AT = VALUE_AT + 64;
/** The kernel stores the result of prefetching reads here: the compiler would remove reads without a result. */
export const PREFETCH_RESULT_AT = VALUE_AT + 76;
/** For each line of a block, by how much the length of its value changed: i8. */
export const LENGTH_DELTAS_AT = VALUE_AT + 80;
/** The first free byte. */
export const FREE_AT = LENGTH_DELTAS_AT + MAX_LINES;

// The header of a block. An entry keeps its position while its line is in the block. `order` lists the entries in the
// order of the lines; the block is sorted if line i is entry i. Three bitmaps mark the entries whose values changed since
// the text, the deflate block or the protobuf messages were written. `text`, `deflate` and `messages` are their dirty
// flags.
//
//   0         4       8       12     16        20      24        28         32       36         40       44         48        304       560        816
//   +---------+-------+-------+------+---------+-------+---------+----------+--------+----------+--------+----------+---------+---------+----------+
//   | entries | order | count | text | deflate | is    | records | line     | groups | capacity | totals | messages | changes | changes | changes  |
//   | at      | at    |       | dirty flags    | sorted| at      | distance | at     | in lines | at     | dirty    | of text | deflate | messages |
//   +---------+-------+-------+------+---------+-------+---------+----------+--------+----------+--------+----------+---------+---------+----------+
export const BLOCK_ENTRIES = 0;
export const BLOCK_ORDER = 4;
export const BLOCK_COUNT = 8;
export const BLOCK_TEXT_DIRTY = 12;
export const BLOCK_DEFLATE_DIRTY = 16;
export const BLOCK_IS_SORTED = 20;
export const BLOCK_RECORDS = 24;
export const BLOCK_LINE_DISTANCE = 28;
export const BLOCK_GROUPS = 32;
export const BLOCK_CAPACITY = 36;
export const BLOCK_TOTALS = 40;
export const BLOCK_MESSAGES_DIRTY = 44;
export const BLOCK_TEXT_CHANGES = 48;
export const CHANGES_BYTES = MAX_LINES / 8;
export const BLOCK_DEFLATE_CHANGES = BLOCK_TEXT_CHANGES + CHANGES_BYTES;
export const BLOCK_MESSAGES_CHANGES = BLOCK_DEFLATE_CHANGES + CHANGES_BYTES;
export const BLOCK_BYTES = BLOCK_MESSAGES_CHANGES + CHANGES_BYTES;

/** Dirty flags: a value changed, or lines were added or removed. */
export const VALUES_CHANGED = 1;
export const LINES_CHANGED = 2;

// The arrays of a block, each with the capacity of the block:
//
//   +--------------+---------------+----------+--------------+
//   | entries of   | values'       | order    | values'      |
//   | 40 bytes     | offsets u32   | u16      | lengths u8   |
//   +--------------+---------------+----------+--------------+
//
// The offsets and lengths of values are in the order of the lines, and describe the last text. The offsets are
// contiguous: when the length of a value changes, all later offsets change.
export const ENTRY_BYTES = 40;
export const VALUE_OFFSET_BYTES = 4;
export const ORDER_BYTES = 2;
export const VALUE_LENGTH_BYTES = 1;

// An entry:
//
//   0         8      16        20          24        28       32        36       40
//   +---------+------+---------+-----------+---------+--------+---------+--------+
//   | node id | hash | name at | labels at | cell at | opcode | next    | series |
//   | f64     | f64  | u32     | u32       | u32     | u32    | line id | index  |
//   +---------+------+---------+-----------+---------+--------+---------+--------+
//
// A line is its name, its labels with a space, the value of its cell, and a line feed. If a line has no cell, the text
// of the labels includes a constant value and the line feed.
export const ENTRY_HASH = 8;
export const ENTRY_NAME = 16;
export const ENTRY_LABELS = 20;
export const ENTRY_CELL = 24;
export const ENTRY_OPCODE = 28;
export const ENTRY_NEXT = 32;
export const ENTRY_SERIES_INDEX = 36;

// A text: its reference count u32, its length u32, its bytes.
export const TEXT_LENGTH = 4;
export const TEXT_CONTENT = 8;

// A cell: a value u64, its word u32, and the id of the first line that shows it u32.
//
// A line id has 31 bits: a block number, then an entry number. The lines of a cell are a linked list: `next` of an entry
// is the id of the next line, with the flag HAS_NEXT if there is one.
export const CELL_WORD = 8;
export const CELL_LINE = 12;
export const CELL_BYTES = 16;
export const HAS_NEXT = 0x80000000;

// An opcode tells how to read the 8 bytes of a value. The highest 16 bits are the index of a scale, with the flag SCALED.
export const OPCODE_U64 = 1;
export const OPCODE_I64 = 2;
export const OPCODE_F64 = 3;
export const OPCODE_BOOL = 4;
export const OPCODE_WRAP32 = 5;
export const SCALED = 0x100;
export const SCALE_SHIFT = 16;

// The place of a line's value in protobuf messages: its offset, with the flag IS_COUNT for the count of a histogram or
// summary. 0 if the messages lack the value. A value is a double, a count a varint of COUNT_BYTES bytes.
export const PLACE_BYTES = 4;
export const IS_COUNT = 0x80000000;
export const COUNT_BYTES = 10;

// The buffer of the protobuf messages of `lines` lines, which has `length` bytes of messages. The deflate block has the
// same messages, and a bit place is the offset of a line's value in it, in bits. Both are absent if the kernel has not
// compressed the messages.
//
//   0       4        8
//   +-------+--------+------------+----------+----------------+---------------+
//   | lines | length | places u32 | messages | bit places u32 | deflate block |
//   +-------+--------+------------+----------+----------------+---------------+
export const MESSAGES_LENGTH = 4;
export const MESSAGES_PLACES = 8;

/** The record of a compressed line, and the total of a line or a group of lines: assembly/deflate.ts. */
export const RECORD_BYTES = 24;
export const DEFLATE_TOTALS_SIZE = 12;
export const GROUP_BITS = 5;

/** The numbers of literal and length symbols, and of distance symbols. */
export const LITERAL_LENGTH_SYMBOLS = 286;
export const DISTANCE_SYMBOLS = 30;
/** The maximum number of bits of a symbol. */
export const LONGEST_CODE = 15;
/** The maximum number of bytes of a match. */
export const MAX_MATCH = 258;

// The table of a Huffman code. The first three arrays hold the code of each symbol, with its number of bits in the
// highest byte. The codes of lengths include the extra bits.
//
//   0               1024           2060             2180        2240         2752        2760     3272        3276
//   +---------------+--------------+----------------+-----------+------------+-----------+--------+-----------+
//   | literals u32  | lengths u32  | distance codes | base u16  | symbol of a| bits u32, | header | counts at |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8| end u32   |        | u32       |
//   +---------------+--------------+----------------+-----------+------------+-----------+--------+-----------+
//
// `header` is the header of a deflate block, `bits` its length in bits, and `end` the code of the end-of-block symbol.
// The first 256 distance symbols are those of the distances 1, 2, …; the others are those of 1, 129, 257, … If `counts at`
// is not 0, symbols are counted there, u32 each, instead of being written.
export const CODE_LENGTHS = 256 * 4;
export const CODE_DISTANCES = CODE_LENGTHS + (MAX_MATCH + 1) * 4;
export const CODE_BASES = CODE_DISTANCES + DISTANCE_SYMBOLS * 4;
export const CODE_DISTANCE_SYMBOLS = CODE_BASES + DISTANCE_SYMBOLS * 2;
export const CODE_HEADER_BITS = CODE_DISTANCE_SYMBOLS + 2 * 256;
export const CODE_END = CODE_HEADER_BITS + 4;
export const CODE_HEADER = CODE_END + 4;
export const CODE_COUNTS = CODE_HEADER + 512;
export const CODE_BYTES = CODE_COUNTS + 4;

// The tables of raw CRCs, u32 each. The first four update a CRC by four bytes of text: 256 entries for each byte of a
// word. The others shift a CRC by a number of zero bytes, which has up to 4 digits in base 16. Each digit from 1 to 15,
// at each position, has eight tables of 16 entries: one table for each half of a byte of the CRC.
export const CRC_DIGITS = 4;
export const CRC_MAX_DIGIT = 15;
export const CRC_BYTE_BYTES = 256 * 4;
export const CRC_HALF_BYTES = 16 * 4;
export const CRC_SHIFTS = 4 * CRC_BYTE_BYTES;
export const CRC_SHIFT_BYTES = 8 * CRC_HALF_BYTES;
