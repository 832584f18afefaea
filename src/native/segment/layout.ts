// The byte layout of a segment. docs/segment-format.md explains it.
import { framedType } from '../../published.js';
import type { FramedType } from '../../published.js';

/** Returns the offsets of fields that lie back to back. Throws if they do not fill `size` exactly. */
export function record<F extends Record<string, number>>(size: number, widths: F) {
  let end = 0;
  const offset = (width: number) => (end += width) - width;
  const at = Object.entries(widths).map(([name, width]) => [name, offset(width)]);
  if (end !== size) throw new RangeError(`Record fields fill ${end} bytes, declared ${size}`);
  return { ...Object.fromEntries(at), size } as Readonly<Record<keyof F | 'size', number>>;
}

/**
 * A segment file. Little-endian; every region starts at a multiple of 4096 bytes.
 *
 *   0          4096
 *   +----------+-------------+-----------+-------------+-----------+---------+---------+---------+
 *   | header   | directory A | strings A | directory B | strings B | words   | slots   | frames  |
 *   | page     | 64 B a rec. | len+UTF-8 | 64 B a rec. | len+UTF-8 | 4 B a   | 8 B a   | framed  |
 *   |          |             |           |             |           | slot    | slot    | blocks  |
 *   +----------+-------------+-----------+-------------+-----------+---------+---------+---------+
 */
export const PAGE = 4096;
export const MAGIC = Buffer.from('SHMEXP\r\n', 'latin1');
export const BYTE_ORDER = 0x01020304;
export const MAJOR = 1;
export const MINOR = 1;
export const RECORD_SIZE = 64;
/** Number of 4-byte words in a record. */
export const RECORD_WORDS = RECORD_SIZE / 4;
/** The bits of the required features. With `series`, variables may have `VARIABLE_FLAG.series`. */
export const FEATURE = { series: 1n } as const;
/** Required feature bits that this reader knows; any other set bit makes a segment incompatible. */
export const KNOWN_FEATURES = FEATURE.series;

/** The immutable part of the header page, at offset 0; `crc` covers all bytes before it. */
export const HEADER = record(256, {
  magic: 8,
  byteOrder: 4,
  major: 2,
  minor: 2,
  headerSize: 4,
  recordSize: 4,
  requiredFeatures: 8,
  optionalFeatures: 8,
  generation: 8,
  startedRealtimeNs: 8,
  startedMonotonicNs: 8,
  pid: 8,
  heartbeatPeriodNs: 8,
  fileSize: 8,
  directoryA: 8,
  directoryB: 8,
  recordCapacity: 8,
  stringsA: 8,
  stringsB: 8,
  stringCapacity: 8,
  words: 8,
  slots: 8,
  slotCapacity: 8,
  frames: 8,
  frameCapacity: 8,
  reserved: 76,
  crc: 4,
});

/** The mutable part of the header page, at offset 1024: 8-byte fields, each in its own cache line. */
export const MUTABLE_OFFSET = 1024;
export const MUTABLE = record(640, {
  state: 64,
  heartbeatNs: 64,
  /** The low 32 bits are the futex word. */
  notifications: 64,
  /** `epoch << 32 | records`; the active directory is A when the epoch is even, B when odd. */
  directory: 64,
  stringBytesA: 64,
  stringBytesB: 64,
  objectsDropped: 64,
  variablesDropped: 64,
  spare: 128,
});

export const SEGMENT_STATE = { building: 0, live: 1, closed: 2, superseded: 3 } as const;

/** One directory record; `crc` covers the 60 bytes after it. */
export const RECORD = record(RECORD_SIZE, {
  crc: 4,
  /** Position in its directory, from 0. */
  index: 4,
  recordKind: 1,
  type: 1,
  kind: 1,
  /** `VARIABLE_FLAG` bits of a variable. */
  flags: 1,
  slot: 4,
  id: 8,
  /** Parent of an object (0 for a root), object of a variable, or item that a tombstone removes. */
  owner: 8,
  incarnation: 4,
  /** String references: offsets into the strings of the same directory; 0 is the empty string. */
  name: 4,
  /** Class of an object, or unit of a variable. */
  text1: 4,
  /** Host of a root, or help of a variable. */
  text2: 4,
  /** Instance of a root, or schema of a variable (bounds or quantiles as 8-byte floats). */
  text3: 4,
  /** Application of a root, or offset of a variable's frame in 8-byte units. */
  text4: 4,
  /** For a root, the slot of its as-of time, or NO_SLOT. For a variable, the length of its frame in 8-byte units. */
  extra1: 4,
  /** Incarnation of a root's as-of slot. */
  extra2: 4,
});

export const RECORD_KIND = { object: 1, variable: 2, tombstone: 3 } as const;
export const NO_SLOT = 0xffffffff;

/** Flags of a variable. `series`: its name is the name and labels of its series (`series-name.ts`). */
export const VARIABLE_FLAG = { series: 1 } as const;

/** Variable kinds by their number in a record. */
export const VARIABLE_KINDS = ['unknown', 'counter', 'gauge'] as const;

/**
 * A frame. `begin` is the number of the last update that began, `end` the number of the last update that ended.
 *
 *   +-----+---------------------------------------------+-------+
 *   | end | string:    length, bytes padded to 8        | begin |
 *   | u64 | histogram: sum f64, counts u64 x (bounds+1) |  u64  |
 *   |     | summary:   count u64, sum f64, values f64   |       |
 *   +-----+---------------------------------------------+-------+
 *
 * A writer sets begin = n + 1, the payload, end = n + 1, and then the variable's slot = n + 1.
 *
 * Returns the length of a frame in 8-byte units. `size` is the number of text bytes, of bounds or of quantiles.
 */
export function frameWords(type: FramedType, size: number): number {
  const { words, entryBytes } = framedType(type).frame;
  return words + Math.ceil((size * entryBytes) / 8);
}

/** The limits of the format; a reader rejects anything above them. */
export const LIMITS = {
  records: 1 << 23,
  slots: 1 << 24,
  stringRegionBytes: 1 << 27,
  frameRegionBytes: 2 ** 31,
  nameBytes: 1024,
  /** Of a variable name with the flag `series`. */
  seriesBytes: 4096,
  unitBytes: 64,
  helpBytes: 4096,
  textBytes: 65_528,
  schemaEntries: 512,
  depth: 64,
} as const;

/** The name of a segment: `/<context id>.<pool name>.<server key>`. */
export const segmentName = (contextId: string, poolName: string, serverKey: string): string =>
  `${contextId}.${poolName}.${serverKey}`;
