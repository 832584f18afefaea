// Writes directories of metric files as Python's prometheus_client and GitLab's prometheus-client-mmap lay them out.
// It uses no code of the product. real-directories.test.ts compares it with files of the libraries.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type Dialect = 'python' | 'ruby';
export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

export const GAUGE_MODES = {
  python: [
    ...['all', 'liveall', 'min', 'livemin', 'max', 'livemax', 'sum', 'livesum'],
    ...['mostrecent', 'livemostrecent'],
  ],
  ruby: ['all', 'liveall', 'min', 'max', 'livesum'],
} as const;
export type GaugeMode = (typeof GAUGE_MODES)[Dialect][number];

export type LabelPairs = readonly (readonly [name: string, value: string | number | null])[];

/** One value of a file: a series of one process. */
export interface Entry {
  readonly family: string;
  readonly sample: string;
  /** Sorted by name. */
  readonly labels: LabelPairs;
  /** Only Python has it. */
  readonly help: string;
  readonly value: number;
  /** Unix seconds; 0 unless the gauge is of a mode *mostrecent*. */
  readonly time: number;
}

export interface MetricFile {
  readonly dialect: Dialect;
  readonly type: MetricType;
  /** Only gauges have it. */
  readonly mode: GaugeMode | '';
  /** The process, usually its pid. */
  readonly id: string;
  /** The bytes behind a key: the value, and the time in newer versions of prometheus_client. */
  readonly stride: 8 | 16;
  readonly entries: readonly Entry[];
}

const HEADER = 8;
/** The sizes of new files. */
const SIZES: Readonly<Record<Dialect, number>> = { python: 65_536, ruby: 4096 };

export const fileNameOf = ({ dialect, type, mode, id }: MetricFile): string => {
  const kind = type === 'gauge' ? `gauge_${mode}` : type;
  return dialect === 'python' ? `${kind}_${id}.db` : `${kind}_${id}-0.db`;
};

/** The key of an entry: JSON as the library writes it. */
export function keyOf(dialect: Dialect, { family, sample, labels, help }: Entry): string {
  if (dialect === 'ruby')
    return JSON.stringify([
      ...[family, sample],
      ...[labels.map(([name]) => name), labels.map(([, value]) => value)],
    ]);
  const pairs = labels.map(([name, value]) => `${asciiJson(name)}: ${asciiJson(String(value))}`);
  return `[${asciiJson(family)}, ${asciiJson(sample)}, {${pairs.join(', ')}}, ${asciiJson(help)}]`;
}

/** A JSON string in ASCII, as Python's `json.dumps` writes it. */
const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The bytes of an entry: the length of the key, the key, 1 to 8 blanks, the value, and perhaps the time. */
function entryBytes({ dialect, stride }: MetricFile, entry: Entry): Buffer {
  const key = Buffer.from(keyOf(dialect, entry));
  const at = 4 + key.length + (8 - ((4 + key.length) % 8));
  const bytes = Buffer.alloc(at + stride, ' ');
  bytes.writeInt32LE(key.length);
  key.copy(bytes, 4);
  bytes.writeDoubleLE(entry.value, at);
  if (stride === 16) bytes.writeDoubleLE(entry.time, at + 8);
  return bytes;
}

/** The used part of a file: header and entries. */
export function usedBytesOf(file: MetricFile): Buffer {
  const entries = file.entries.map((entry) => entryBytes(file, entry));
  const bytes = Buffer.concat([Buffer.alloc(HEADER), ...entries]);
  bytes.writeInt32LE(bytes.length);
  return bytes;
}

/** The size of a file with these many used bytes: the first size, doubled as often as necessary. */
export function sizeOf(dialect: Dialect, used: number): number {
  let size = SIZES[dialect];
  while (size < used) size *= 2;
  return size;
}

export function writeMetricFile(folder: string, file: MetricFile): void {
  const bytes = usedBytesOf(file);
  writeBytes(join(folder, fileNameOf(file)), bytes, sizeOf(file.dialect, bytes.length));
}

/** Writes a file of this size that begins with these bytes. */
export function writeBytes(path: string, bytes: Uint8Array, size = bytes.length): void {
  const fd = openSync(path, 'w', 0o644);
  try {
    writeSync(fd, bytes);
    ftruncateSync(fd, size);
  } finally {
    closeSync(fd);
  }
}

/** Reads a file that a library wrote. The stride is the one with which the entries end where the file says. */
export function readEntries(dialect: Dialect, bytes: Buffer, stride: 8 | 16): Entry[] {
  const used = bytes.readInt32LE(0);
  const entries: Entry[] = [];
  let at = HEADER;
  while (at < used) {
    const length = bytes.readInt32LE(at);
    const key: unknown = JSON.parse(bytes.toString('utf8', at + 4, at + 4 + length));
    at += 4 + length + (8 - ((4 + length) % 8));
    const [value, time] = [bytes.readDoubleLE(at), stride === 16 ? bytes.readDoubleLE(at + 8) : 0];
    entries.push({ ...keyParts(dialect, key), value, time });
    at += stride;
  }
  if (at !== used) throw new Error(`the entries end at ${at}, not at ${used}`);
  return entries;
}

function keyParts(dialect: Dialect, key: unknown): Omit<Entry, 'value' | 'time'> {
  if (dialect === 'python') {
    const [family, sample, labels, help] = key as [string, string, Record<string, string>, string];
    return { family, sample, labels: Object.entries(labels), help };
  }
  const [family, sample, names, values] = key as [string, string, string[], (string | null)[]];
  return { family, sample, labels: names.map((name, i) => [name, values[i] ?? null]), help: '' };
}
