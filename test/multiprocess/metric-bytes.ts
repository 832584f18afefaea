// Makes the bytes of files of a multiprocess directory, as the libraries write them.

/** An entry of a file: its key, its value and, with a stride of 16, its Unix time. */
export interface Entry {
  readonly key: string | Uint8Array;
  readonly value: number;
  readonly time?: number;
}

/** The key of a series in the dialect of Python. */
export const pythonKey = (
  family: string,
  sample = family,
  labels: Readonly<Record<string, string>> = {},
  help = `Help of ${family}`,
): string => JSON.stringify([family, sample, labels, help]);

/** The key of a series in the dialect of Ruby. */
export const rubyKey = (
  family: string,
  sample = family,
  labels: Readonly<Record<string, string | null>> = {},
): string => JSON.stringify([family, sample, Object.keys(labels), Object.values(labels)]);

const integer = (value: number): Buffer => Buffer.from(Int32Array.of(value).buffer);
const double = (value: number): Buffer => Buffer.from(Float64Array.of(value).buffer);

function entryBytes({ key, value, time = 0 }: Entry, stride: 8 | 16): Buffer {
  const bytes = Buffer.from(key);
  const blanks = ' '.repeat(8 - ((4 + bytes.length) % 8));
  const parts = [integer(bytes.length), bytes, Buffer.from(blanks), double(value)];
  return Buffer.concat(stride === 16 ? [...parts, double(time)] : parts);
}

/** The bytes of a file. @param size the size of the file; by default that of the used bytes */
export function fileBytes(entries: readonly Entry[], stride: 8 | 16 = 16, size = 0): Buffer {
  const all = entries.map((entry) => entryBytes(entry, stride));
  const used = 8 + all.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.alloc(Math.max(used, size));
  Buffer.concat([integer(used), integer(0), ...all]).copy(bytes);
  return bytes;
}
