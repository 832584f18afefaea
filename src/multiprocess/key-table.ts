// The parsed keys of all files. Equal keys of many processes are parsed and kept once.
import { MAX_KEY_BYTES, parseKey } from './entry-key.js';
import type { EntryKey } from './entry-key.js';
import type { Bucket } from './merged-series.js';
import { pythonFloat } from './python-float.js';

/** A key that entries of files have. */
export interface SharedKey {
  /** The bytes as Latin-1. */
  readonly text: string;
  readonly parsed: EntryKey | string;
  /** The labels as JSON. */
  readonly labelsText: string;
  /** The upper bound, and the other labels with their text, if the labels have a valid bound. */
  readonly bucket:
    (Bucket & { readonly labels: EntryKey['labels']; readonly labelsText: string }) | undefined;
  /** The labels without `pid`, and their text: the libraries replace or drop a label of this name of a gauge. */
  readonly gauge: { readonly labels: EntryKey['labels']; readonly labelsText: string };
  /** The number of entries with this key. */
  uses: number;
}

/** The maximum number of bytes of all keys together. A key takes several times its bytes. */
const MAX_BYTES = 2 ** 27;

export class KeyTable {
  readonly #keys = new Map<string, SharedKey>();
  #freeBytes: number;

  constructor(maxBytes = MAX_BYTES) {
    this.#freeBytes = maxBytes;
  }

  /** The key of an entry that is added. Returns the reason if no entry may have it. */
  add(bytes: Buffer, start: number, end: number): SharedKey | string {
    const length = end - start;
    if (length > MAX_KEY_BYTES) return `has ${length} bytes, allowed: at most ${MAX_KEY_BYTES}`;
    const text = bytes.toString('latin1', start, end);
    let key = this.#keys.get(text);
    if (key === undefined) {
      if (length > this.#freeBytes) return 'would exceed the bytes of keys that a target may have';
      this.#freeBytes -= length;
      key = newKey(text, parseKey(bytes.subarray(start, end)));
      this.#keys.set(text, key);
    }
    key.uses++;
    return key;
  }

  /** Forgets the key of an entry that is removed. */
  remove(key: SharedKey): void {
    if (--key.uses > 0) return;
    this.#keys.delete(key.text);
    this.#freeBytes += key.text.length;
  }
}

function newKey(text: string, parsed: EntryKey | string): SharedKey {
  const labels = typeof parsed === 'string' ? {} : parsed.labels;
  const { le = '', ...others } = labels;
  const ofGauge = Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'pid'));
  const bound = boundOf(le);
  const isPython = typeof parsed !== 'string' && parsed.dialect === 'python';
  const shownBound = isPython && bound !== undefined ? pythonFloat(bound) : le;
  return {
    ...{ text, parsed, uses: 0 },
    labelsText: labelsTextOf(labels),
    bucket: bound === undefined ? undefined : { bound, le: shownBound, ...withText(others) },
    gauge: withText(ofGauge),
  };
}

const withText = (labels: EntryKey['labels']): SharedKey['gauge'] => ({
  labels,
  labelsText: labelsTextOf(labels),
});

/** Labels as JSON; empty without labels. */
export const labelsTextOf = (labels: EntryKey['labels']): string => {
  const text = JSON.stringify(labels);
  return text === '{}' ? '' : text;
};

function boundOf(le: string): number | undefined {
  if (le === '+Inf') return Infinity;
  const bound = le.trim() === '' ? NaN : Number(le);
  return Number.isFinite(bound) ? bound : undefined;
}
