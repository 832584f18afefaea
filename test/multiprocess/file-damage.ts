// Damages a file of a real library in a directory, and checks what the exporter shows: each value must be one that the
// file has for this name, and the other files must be shown as before.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '#app/simulator/course.js';
import { seriesKey } from '../end-to-end/page.js';
import { numberOf } from './compared-pages.js';
import type { Families } from './compared-pages.js';
import { writeBytes } from './metric-directory.js';
import type { Dialect } from './metric-directory.js';

const INTEGERS = [0, 1, -1, 4, 7, 8, 16, 255, 65_536, 0x7fffffff, -0x80000000, 0x10000, 2 ** 20];
/** Texts that replace a part of a key. */
const TEXTS = ['[', ']', '"', '{}', 'null', '[[[[', ', ', '\\u0000', '\\ud800', '", "', '1e999'];
const INVALID_UTF8 = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0xaf]];

const DIGITS: ReadonlyMap<number, number> = new Map([
  [0x31, 0x32],
  [0x32, 0x31],
]);

/** Returns damaged bytes, and a description of the damage. */
export function damaged(
  random: Random,
  bytes: Buffer,
): { readonly bytes: Buffer; readonly what: string } {
  const used = Math.min(Math.max(8, bytes.readInt32LE(0)), bytes.length);
  const at = random.below(used);
  const word = 8 * random.below(Math.ceil(used / 8));
  const copy = Buffer.from(bytes);
  const put = (part: Uint8Array, to: number): void => {
    copy.set(part.subarray(0, Math.max(0, copy.length - to)), to);
  };
  const kinds: readonly (() => { readonly bytes: Buffer; readonly what: string })[] = [
    () => {
      // Other keys of the same length.
      for (let each = 8; each < used; each++)
        copy[each] = DIGITS.get(copy[each] ?? 0) ?? copy[each] ?? 0;
      return { bytes: copy, what: 'digits 1 and 2 swapped' };
    },
    () => {
      const bit = random.below(8);
      copy[at] = (copy[at] ?? 0) ^ (1 << bit);
      return { bytes: copy, what: `bit ${bit} of byte ${at} turned` };
    },
    () => {
      const value = INTEGERS[random.below(INTEGERS.length)] ?? 0;
      copy.writeInt32LE(value, word);
      return { bytes: copy, what: `integer ${value} at ${word}` };
    },
    () => {
      const value = INTEGERS[random.below(INTEGERS.length)] ?? 0;
      copy.writeInt32LE(value, 0);
      return { bytes: copy, what: `${value} used bytes` };
    },
    () => ({ bytes: copy.subarray(0, at), what: `cut to ${at} bytes` }),
    () => {
      const more = random.below(5000);
      return {
        bytes: Buffer.concat([copy, Buffer.alloc(more, random.below(256))]),
        what: `${more} bytes more`,
      };
    },
    () => {
      const grown = used + 8 * random.below(12);
      const longer = Buffer.concat([copy, Buffer.alloc(128)]);
      longer.writeInt32LE(grown, 0);
      return { bytes: longer, what: `used grown to ${grown} without an entry` };
    },
    () => {
      const text = TEXTS[random.below(TEXTS.length)] ?? '';
      put(Buffer.from(text), at);
      return { bytes: copy, what: `${JSON.stringify(text)} at ${at}` };
    },
    () => {
      const invalid = INVALID_UTF8[random.below(INVALID_UTF8.length)] ?? [];
      put(Uint8Array.from(invalid), at);
      return { bytes: copy, what: `bytes ${invalid.join(' ')} at ${at}` };
    },
    () => {
      const length = 8 * (1 + random.below(4));
      const without = Buffer.concat([copy.subarray(0, word), copy.subarray(word + length)]);
      const isAdjusted = random.below(2) === 0;
      if (isAdjusted && without.length >= 4) without.writeInt32LE(Math.max(0, used - length), 0);
      return {
        bytes: without,
        what: `${length} bytes removed at ${word}, used ${isAdjusted ? 'adjusted' : 'as before'}`,
      };
    },
    () => {
      const length = 8 * (1 + random.below(4));
      const part = Buffer.alloc(length, random.below(2) === 0 ? 0 : 32);
      const longer = Buffer.concat([copy.subarray(0, word), part, copy.subarray(word)]);
      const isAdjusted = random.below(2) === 0 && word >= 8;
      if (isAdjusted) longer.writeInt32LE(used + length, 0);
      return {
        bytes: longer,
        what: `${length} bytes inserted at ${word}, used ${isAdjusted ? 'adjusted' : 'as before'}`,
      };
    },
    () => {
      const [from, to, length] = [
        8 * random.below(used / 8),
        8 * random.below(used / 8),
        8 * (1 + random.below(40)),
      ];
      put(Buffer.from(bytes.subarray(from, from + length)), to);
      return { bytes: copy, what: `${length} bytes of ${from} at ${to}` };
    },
    () => {
      const part = Buffer.from(
        Array.from({ length: 1 + random.below(64) }, () => random.below(256)),
      );
      put(part, at);
      return { bytes: copy, what: `${part.length} random bytes at ${at}` };
    },
  ];
  const apply = kinds[random.below(kinds.length)];
  return apply === undefined ? { bytes, what: 'nothing' } : apply();
}

/** The values that a file may have, by sample and labels. */
export type Candidates = ReadonlyMap<string, readonly number[]>;

/**
 * Finds the values of all keys. A key is at a multiple of 8, after its length; its value is at the next multiple of 8
 * after the key. A correct reader shows no other value of this file.
 * @param ids the identifiers of the process, for gauges with one series for each process
 */
export function candidatesIn(bytes: Buffer, ids: readonly string[]): Candidates {
  const found = new Map<string, number[]>();
  const end = bytes.length;
  for (let at = 8; at + 16 <= end; at += 8) {
    const length = bytes.readInt32LE(at);
    const valueAt = at + 4 + length + (8 - ((4 + length) % 8));
    if (length < 2 || length > 65_536 || valueAt + 8 > end) continue;
    const key = sampleOf(bytes.toString('utf8', at + 4, at + 4 + length));
    if (key === undefined) continue;
    const value = bytes.readDoubleLE(valueAt);
    const sets = ids.length === 0 ? [key.labels] : ids.map((pid) => ({ ...key.labels, pid }));
    for (const labels of sets) {
      const name = seriesKey(key.sample, labels);
      found.set(name, [...(found.get(name) ?? []), value]);
    }
  }
  return found;
}

type Texts = Readonly<Record<string, string>>;

function sampleOf(text: string): { readonly sample: string; readonly labels: Texts } | undefined {
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(key)) return undefined;
  const [, sample, third, fourth] = key as unknown[];
  if (typeof sample !== 'string' || typeof third !== 'object' || third === null) return undefined;
  const pairs = Array.isArray(third)
    ? third.map((name, i) => [name, Array.isArray(fourth) ? (fourth as unknown[])[i] : ''] as const)
    : Object.entries(third);
  const labels = pairs.map(([name, value]) => [name, labelText(name, value)] as const);
  return { sample, labels: Object.fromEntries(labels) as Texts };
}

function labelText(name: unknown, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
  if (name !== 'le') return text;
  try {
    return String(numberOf(text));
  } catch {
    return text;
  }
}

/** The sums of some of the values: a damaged file may have a key several times. */
function sumsOf(values: readonly number[]): readonly number[] {
  const sums = [0];
  for (const value of values.slice(0, MAX_REPEATS)) sums.push(...sums.map((sum) => sum + value));
  return sums.slice(1);
}
const MAX_REPEATS = 8;

const isAmong = (value: number, values: readonly number[]): boolean =>
  values.some((each) => each === value || Object.is(each, value));

/** Files of one process. Each trial damages one of them. No two files share a family. */
export class DamagedDirectory {
  readonly path: string;
  readonly #dialect: Dialect;
  readonly #files: ReadonlyMap<string, Buffer>;
  /** The families of each file on the page of the undamaged directory. */
  readonly #families: ReadonlyMap<string, Families>;

  /** @param families the page of the undamaged directory */
  constructor(path: string, dialect: Dialect, families: Families) {
    this.path = path;
    this.#dialect = dialect;
    this.#files = new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name))]));
    this.#families = new Map(
      [...this.#files].map(([name, bytes]) => {
        const candidates = candidatesIn(bytes, idsIn(name));
        const isOwn = (key: string): boolean => candidates.has(key);
        return [
          name,
          new Map([...families].filter(([, { series }]) => [...series.keys()].some(isOwn))),
        ];
      }),
    );
    const known = [...this.#families.values()].reduce((sum, { size }) => sum + size, 0);
    if (known !== families.size) throw new Error('the files do not have the families of the page');
  }

  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  bytesOf(name: string): Buffer {
    const bytes = this.#files.get(name);
    if (bytes === undefined) throw new Error(`there is no ${name}`);
    return bytes;
  }

  /** Overwrites a file in place, as its writer would. */
  write(name: string, bytes: Uint8Array): void {
    writeBytes(join(this.path, name), bytes);
  }

  /**
   * What is wrong on a page, and the number of right values.
   * @param name the damaged file
   * @param versions the bytes that a poller has read so far
   */
  judge(
    name: string,
    versions: readonly Buffer[],
    shown: Families,
  ): { readonly wrong: readonly string[]; readonly right: number } {
    const wrong: string[] = [];
    let right = 0;
    const others = new Set<string>();
    for (const [file, families] of this.#families)
      for (const [family, { series }] of file === name ? [] : families) {
        others.add(family);
        for (const [key, value] of series) {
          const ours = shown.get(family)?.series.get(key);
          if (ours !== undefined && isAmong(value, [ours])) right++;
          else wrong.push(`${file}: ${key} is ${String(ours)}, not ${value}`);
        }
      }
    const ids = idsIn(name);
    const all = versions.map((bytes) => candidatesIn(bytes, ids));
    for (const [family, { series }] of shown) {
      if (others.has(family)) continue;
      const values = name.startsWith('histogram')
        ? ownValues(this.#dialect, family, series)
        : series;
      for (const [key, value] of values) {
        const candidates = all.flatMap((each) =>
          [...each].flatMap(([entry, found]) =>
            mayReplace(this.#dialect, family, entry, key) ? sumsOf(found) : [],
          ),
        );
        // A bucket or sum that the file does not have is 0.
        const isMissing = name.startsWith('histogram') && value === 0 && candidates.length === 0;
        if (!isMissing && !isAmong(value, candidates)) wrong.push(`${key} is ${value}`);
      }
    }
    return { wrong, right };
  }
}

/** The identifiers of the process in both dialects, if gauges of the file have a series for each process. */
function idsIn(name: string): readonly string[] {
  const [, id = ''] = /^gauge_(?:live)?all_(.+)\.db$/.exec(name) ?? [];
  return id === '' ? [] : [id, id.replace(/-\d+$/, '')];
}

/**
 * Whether the exporter may show the value of an entry in place of another one. Ruby has the count of a histogram in two
 * entries, and its buckets may not fall: a bucket that is lower than the one before shows the value of that one.
 */
function mayReplace(dialect: Dialect, family: string, entry: string, shown: string): boolean {
  const isOfCounts = (key: string): boolean =>
    key.startsWith(`${family}_bucket{`) || key.startsWith(`${family}_count{`);
  return entry === shown || (dialect === 'ruby' && isOfCounts(entry) && isOfCounts(shown));
}

/** The values of a histogram as they are in a file of Python: each bucket with its own observations, and no count. */
function ownValues(
  dialect: Dialect,
  family: string,
  series: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const own = new Map<string, number>();
  const sets = new Map<string, [bound: number, key: string, value: number][]>();
  for (const [key, value] of series) {
    if (!key.startsWith(`${family}_bucket{`)) {
      if (dialect === 'ruby' || !key.startsWith(`${family}_count{`)) own.set(key, value);
      continue;
    }
    const { le = '', ...others } = JSON.parse(key.slice(key.indexOf('{'))) as Record<
      string,
      string
    >;
    const set = seriesKey(family, others);
    sets.set(set, [...(sets.get(set) ?? []), [Number(le), key, value]]);
  }
  for (const buckets of sets.values()) {
    let before = 0;
    for (const [, key, value] of buckets.toSorted(([a], [b]) => a - b)) {
      // Above 2^53 the sum is rounded, so its difference from the last sum is not the count of the bucket.
      if (dialect === 'ruby' || Number.isSafeInteger(value))
        own.set(key, dialect === 'python' ? value - before : value);
      before = value;
    }
  }
  return own;
}
