// The layout of Varnish's shared memory, and what is read of it at most. docs/formats.md describes both.

/** Where each field of a segment's header stands; values are in the byte order of the machine. */
export const HEADER = { ready: 0, bodyOffset: 8, schemaId: 16, bytes: 24 } as const;

/** Whether a segment is shown, as its header says. */
export const READY = { building: 0, visible: 1, hidden: 2 } as const;

/** Each value is a number of so many bytes, at a multiple of them. */
export const VALUE_BYTES = 8;

export const LIMITS = {
  /** Bytes of an index, and of a line of it. */
  indexBytes: 2 ** 22,
  lineBytes: 1024,
  /** Segments of values, and of schemas, in a directory. */
  segments: 8192,
  schemas: 256,
  /** Files that are open at once for a directory, and the bytes of one. */
  files: 1024,
  fileBytes: 2 ** 26,
  /** Bytes of a schema, and the values that it describes. */
  schemaBytes: 2 ** 20,
  fields: 4096,
  /** Bytes of a segment of values. */
  bodyBytes: 2 ** 16,
} as const;
