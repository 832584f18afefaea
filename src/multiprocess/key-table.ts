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
  /** The labels without `pid`, and their text: the libraries replace or drop a label of this name of a gauge. */
  readonly gauge: { readonly labels: EntryKey['labels']; readonly labelsText: string };
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
  const labels = typeof parsed === 'string' ? {} : parsed.labels;
  const { le, ...others } = labels;
  const ofGauge = Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'pid'));
  const bound = le === undefined ? undefined : boundOf(le);
  const isBucket =
    bound !== undefined && typeof parsed !== 'string' && parsed.sample.endsWith('_bucket');
  return {
    ...{ text, parsed, uses: 0 },
    labelsText: labelsTextOf(isBucket ? others : labels),
    bucket: isBucket ? { bound, labels: others } : undefined,
    gauge: { labels: ofGauge, labelsText: labelsTextOf(ofGauge) },
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
