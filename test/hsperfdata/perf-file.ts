// Builds counter files as HotSpot lays them out, byte by byte and without the tables of the code under test.

export interface BuiltCounter {
  readonly name: string;
  readonly value: bigint | string;
  readonly unit?: number;
  readonly variability?: number;
  /** The number of bytes reserved for a text. Default: its length. */
  readonly room?: number;
  /** The data type to write instead of J or B. */
  readonly type?: string;
}

export interface BuiltOptions {
  readonly isBigEndian?: boolean;
  readonly isAccessible?: boolean;
  readonly major?: number;
  readonly size?: number;
  readonly overflow?: number;
  readonly modified?: bigint;
  /** The number of entries that the header counts but that are not written yet. */
  readonly unfilled?: number;
}

const ENTRY = 20;
const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/** The counters that every JVM has, and its main class. */
export const someCounters = (mainClass = 'org.shop.Till'): readonly BuiltCounter[] => [
  { name: 'sun.rt.createVmBeginTime', value: BigInt(Date.now()), variability: 1, unit: 1 },
  { name: 'sun.os.hrt.frequency', value: 1_000_000_000n, variability: 1, unit: 6 },
  { name: 'sun.rt.javaCommand', value: `${mainClass} --password hunter2`, room: 4096 },
  { name: 'java.property.java.vm.name', value: 'Test VM', room: 64 },
  { name: 'java.rt.vmArgs', value: '-Dtoken=hunter2', room: 64 },
  { name: 'java.threads.live', value: 12n, unit: 1 },
  { name: 'java.threads.started', value: 2n ** 40n, unit: 4, variability: 2 },
  { name: 'sun.rt.safepointTime', value: 313_775_303n, unit: 3, variability: 2 },
  { name: 'sun.gc.collector.0.name', value: 'Test collections', room: 32, variability: 1 },
  { name: 'sun.gc.collector.0.invocations', value: 7n, unit: 4, variability: 2 },
  { name: 'sun.gc.collector.0.time', value: 1_500_000_001n, unit: 3, variability: 2 },
  { name: 'sun.gc.generation.0.name', value: 'young', room: 16, variability: 1 },
  { name: 'sun.gc.generation.0.space.0.name', value: 'eden', room: 16, variability: 1 },
  { name: 'sun.gc.generation.0.space.0.used', value: 4096n, unit: 2 },
  { name: 'sun.gc.metaspace.used', value: 8192n, unit: 2 },
  { name: 'org.shop.sales', value: -5n, unit: 1 },
];

/** Returns the bytes of a file with the given counters, and the offset of each value. */
export function perfFile(
  counters: readonly BuiltCounter[],
  options: BuiltOptions = {},
): { readonly bytes: Buffer; readonly valueAt: ReadonlyMap<string, number> } {
  const { isBigEndian = false, isAccessible = true, major = 2, unfilled = 0 } = options;
  const valueAt = new Map<string, number>();
  const parts: Buffer[] = [Buffer.alloc(32)];
  let at = 32;
  for (const counter of counters) {
    const { entry, value } = entryOf(counter, isBigEndian);
    valueAt.set(counter.name, at + value);
    parts.push(entry);
    at += entry.length;
  }
  const used = at + unfilled * 48;
  const bytes = Buffer.alloc(Math.max(options.size ?? 32_768, used));
  Buffer.concat(parts).copy(bytes);
  const int = isBigEndian ? bytes.writeInt32BE.bind(bytes) : bytes.writeInt32LE.bind(bytes);
  bytes.set([0xca, 0xfe, 0xc0, 0xc0, isBigEndian ? 0 : 1, major, 0, isAccessible ? 1 : 0]);
  int(used, 8);
  int(options.overflow ?? 0, 12);
  if (isBigEndian) bytes.writeBigInt64BE(options.modified ?? 1n, 16);
  else bytes.writeBigInt64LE(options.modified ?? 1n, 16);
  int(32, 24);
  int(counters.length + unfilled, 28);
  return { bytes, valueAt };
}

function entryOf(
  { name, value, unit = 1, variability = 3, room, type }: BuiltCounter,
  isBigEndian: boolean,
): { readonly entry: Buffer; readonly value: number } {
  const isText = typeof value === 'string';
  const nameEnd = ENTRY + Buffer.byteLength(name) + 1;
  const valueAt = isText ? nameEnd : roundUp(nameEnd, 8);
  const vector = isText ? (room ?? Buffer.byteLength(value) + 1) : 0;
  const entry = Buffer.alloc(roundUp(valueAt + (isText ? vector : 8), 8));
  const int = isBigEndian ? entry.writeInt32BE.bind(entry) : entry.writeInt32LE.bind(entry);
  int(entry.length, 0);
  int(ENTRY, 4);
  int(vector, 8);
  entry.write(type ?? (isText ? 'B' : 'J'), 12, 'latin1');
  entry.set([name.startsWith('java.') ? 1 : 0, isText ? 5 : unit, variability], 13);
  int(valueAt, 16);
  entry.write(name, ENTRY);
  if (isText) entry.write(value, valueAt);
  else if (isBigEndian) entry.writeBigInt64BE(value, valueAt);
  else entry.writeBigInt64LE(value, valueAt);
  return { entry, value: valueAt };
}
