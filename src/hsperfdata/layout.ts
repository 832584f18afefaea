// The layout of hsperfdata 2.0: the file in which a HotSpot JVM keeps its counters.

/** The first bytes of the file, in whatever byte order the rest is. */
export const MAGIC = [0xca, 0xfe, 0xc0, 0xc0] as const;

/** Offsets in the header. */
export const HEADER = {
  byteOrder: 4,
  major: 5,
  accessible: 7,
  used: 8,
  overflow: 12,
  modified: 16,
  entryOffset: 24,
  entries: 28,
  bytes: 32,
} as const;

/** The only structure of entries that there is. */
export const MAJOR = 2;

/** Offsets in an entry, whose parts lie at offsets from its own start. */
export const ENTRY = {
  length: 0,
  nameOffset: 4,
  vectorLength: 8,
  dataType: 12,
  unit: 14,
  variability: 15,
  dataOffset: 16,
  bytes: 20,
} as const;

/** Data types, as the characters that the JVM uses for Java's own types. */
export const LONG = 'J'.charCodeAt(0);
export const BYTE = 'B'.charCodeAt(0);

export const UNIT = { none: 1, bytes: 2, ticks: 3, events: 4, string: 5, hertz: 6 } as const;
export const VARIABILITY = { constant: 1, monotonic: 2, variable: 3 } as const;

/** What is believed of a file: a JVM takes at most 2 MiB, and has some 200 entries of 32 KiB. */
export const LIMITS = { bytes: 4 * 2 ** 20, entries: 16_384, name: 256, text: 256 } as const;
