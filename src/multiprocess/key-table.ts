// The parsed keys of all files. Equal keys of many processes are parsed and kept once.
import { parseKey } from './entry-key.js';
import type { EntryKey } from './entry-key.js';

/** A key that entries of files have. */
export interface SharedKey {
  /** The bytes as Latin-1. */
  readonly text: string;
  readonly parsed: EntryKey | string;
  /** The labels as JSON; those without `le` if the key is one of a bucket. */
  readonly labelsText: string;
  /** The upper bound and the other labels, if the labels have a valid bound. */
  readonly bucket: { readonly bound: number; readonly labels: EntryKey['labels'] } | undefined;
  /** The number of entries with this key. */
  uses: number;
}

export class KeyTable {
  readonly #keys = new Map<string, SharedKey>();

  /** The key of an entry that is added. */
  add(bytes: Buffer, start: number, end: number): SharedKey {
    const text = bytes.toString('latin1', start, end);
    let key = this.#keys.get(text);
    if (key === undefined) {
      key = newKey(text, parseKey(bytes.subarray(start, end)));
      this.#keys.set(text, key);
    }
    key.uses++;
    return key;
  }

  /** Forgets the key of an entry that is removed. */
  remove(key: SharedKey): void {
    if (--key.uses === 0) this.#keys.delete(key.text);
  }
}

function newKey(text: string, parsed: EntryKey | string): SharedKey {
  if (typeof parsed === 'string')
    return { text, parsed, labelsText: '', bucket: undefined, uses: 0 };
  const { le, ...labels } = parsed.labels;
  const bound = le === undefined ? undefined : boundOf(le);
  const isBucket = bound !== undefined && parsed.sample.endsWith('_bucket');
  return {
    ...{ text, parsed },
    labelsText: labelsTextOf(isBucket ? labels : parsed.labels),
    bucket: isBucket ? { bound, labels } : undefined,
    uses: 0,
  };
}

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
