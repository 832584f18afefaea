// The layout of a file of a multiprocess directory: keys and values that one process writes.
import { Fault } from '../errors.js';

/**
 * Integers and doubles are in the byte order of the host. An entry begins at a multiple of 8:
 *
 *   0  i32  used: the number of bytes up to the end of the last entry; 0 in a new file
 *   4       unused
 *   8       entries:
 *           0      i32  n: the length of the key
 *           4           the key: n bytes of JSON, then 1 to 8 blanks up to a multiple of 8
 *           value  f64  the value
 *           + 8    f64  Unix time in seconds of the value; only with a stride of 16
 *
 * The writer adds an entry before it increases `used`, and never moves or removes an entry.
 */
export const HEADER_BYTES = 8;

/**
 * The bytes of an entry after its key. Ruby, and Python's library before 0.18, write only the value. No field of the file
 * states the stride.
 */
export type Stride = 8 | 16;

/** The position of an entry in its file. */
export interface EntryPosition {
  /** The first and the last byte of the key. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueAt: number;
}

export interface EntryChain {
  readonly stride: Stride;
  readonly entries: readonly EntryPosition[];
}

const [OPENING, CLOSING] = [0x5b, 0x5d];

/** The maximum number of bytes of a file. */
export const MAX_FILE_BYTES = 2 ** 26;
/** The number of entries that a step finds, and the budget steps for it. */
const STEP_ENTRIES = 4096;
const CHAIN_STEPS = 16;
/** The number of bytes of holes that a step skips. */
const STEP_BYTES = 65_536;

/** The number of used bytes that the header of a file states. @param bytes at least the header */
export const usedIn = (bytes: Buffer): number => int32(bytes, 0);

/**
 * Checks the number of used bytes.
 * @param size the number of bytes of the file
 * @throws Fault SEGMENT_CORRUPT if no library writes such a number
 */
export function checkUsed(used: number, size: number): void {
  if (used === 0) return;
  if (used < HEADER_BYTES || used % 8 !== 0)
    throw corrupt(`states ${used} used bytes, allowed: multiples of 8 from ${HEADER_BYTES} on`);
  if (used > MAX_FILE_BYTES)
    throw corrupt(`states ${used} used bytes, allowed: at most ${MAX_FILE_BYTES}`);
  if (used > size) throw corrupt(`states ${used} used bytes, but has only ${size}`);
}

/**
 * Finds the entries from the position `start` on. A step returns the work that it did.
 * @param bytes exactly the used bytes of the file
 * @param stride the stride of the entries before `start`, if there are any
 * @throws Fault SEGMENT_CORRUPT if the entries do not end at the last used byte, whatever their stride
 */
export function* readingChain(
  bytes: Buffer,
  start = HEADER_BYTES,
  stride?: Stride,
): Generator<number, EntryChain> {
  const fits = (each: Stride): boolean => stride === undefined || stride === each;
  const long = fits(16) ? yield* entriesFrom(bytes, start, 16, false) : undefined;
  const short = fits(8) ? yield* entriesFrom(bytes, start, 8, false) : undefined;
  if (long !== undefined && short !== undefined && long.length > 0)
    throw corrupt('has entries that fit both layouts, with a time after each value and without');
  if (long !== undefined) return { stride: 16, entries: long };
  // A writer of the Ruby dialect may leave holes.
  const entries = short ?? (fits(8) ? yield* entriesFrom(bytes, start, 8, true) : undefined);
  if (entries === undefined)
    throw corrupt(
      `has an entry whose key is no JSON array, or entries that do not end at its ${bytes.length} used bytes`,
    );
  return { stride: 8, entries };
}

/** The entries with a stride; undefined if they do not end with the bytes, or if a key is no JSON array. */
function* entriesFrom(
  bytes: Buffer,
  start: number,
  stride: Stride,
  hasHoles: boolean,
): Generator<number, EntryPosition[] | undefined> {
  const entries: EntryPosition[] = [];
  let at = start;
  while (at < bytes.length) {
    if (
      hasHoles &&
      at + 8 <= bytes.length &&
      int32(bytes, at) === 0 &&
      int32(bytes, at + 4) === 0
    ) {
      at += 8;
      if (at % STEP_BYTES === 0) yield CHAIN_STEPS;
      continue;
    }
    const keyStart = at + 4;
    const keyEnd = keyStart + (keyStart <= bytes.length ? int32(bytes, at) : 0);
    const valueAt = (keyEnd & ~7) + 8;
    if (keyEnd <= keyStart || valueAt + stride > bytes.length) return undefined;
    if (bytes[keyStart] !== OPENING || bytes[keyEnd - 1] !== CLOSING) return undefined;
    if (entries.length % STEP_ENTRIES === STEP_ENTRIES - 1) yield CHAIN_STEPS;
    entries.push({ keyStart, keyEnd, valueAt });
    at = valueAt + stride;
  }
  return at === bytes.length ? entries : undefined;
}

const isLittleEndian = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;

const int32 = (bytes: Buffer, at: number): number =>
  isLittleEndian ? bytes.readInt32LE(at) : bytes.readInt32BE(at);

export const corrupt = (what: string): Fault => new Fault('SEGMENT_CORRUPT', what);
