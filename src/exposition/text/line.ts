// A line of the text: one series with its labels and the cell of its value.
import { hashOf } from '../wasm/memory.js';
import type { StoredText, TextHash } from '../wasm/memory.js';

/** The parts of a line after the name of its family. */
export interface Line {
  /** The end of the series name after the family name, such as `_sum`. */
  readonly suffix: string;
  /** The labels in braces, if any, and a space. Lines may share a `StoredText`; a string belongs to one line. */
  readonly labels: StoredText | string;
  /** For a line without a cell, its constant value and a line feed; '' for other lines. */
  readonly constant: string;
  /** The address of the cell with the value; 0 for a constant value. */
  readonly cell: number;
  /** One of `OPCODE`, with the flags of `Scales` for a scaled value. */
  readonly opcode: number;
}

/** The sort key of a line in its family: the id of its object or variable, then the index of the series. */
export interface LineKey {
  readonly nodeId: number;
  readonly seriesIndex: number;
}

/**
 * A 52-bit hash of a line's name, suffix included, and labels. The last 8 bits depend only on the labels. The series
 * of one object are added together, and `NumberSet` thus stores them close to each other.
 */
export function seriesHash(name: TextHash, { labels }: Line): number {
  const own = typeof labels === 'string' ? hashOf(labels) : labels.hash;
  // Mix name and labels. Otherwise, two names that have one half of their hash in common would clash for all labels.
  const a = Math.imul(Math.imul(name.a ^ own.b, 0x01000193) ^ name.b ^ own.a, 0x85ebca6b);
  const b = Math.imul(name.b ^ own.a, 0x5bd1e995) ^ own.b;
  return (a >>> 0) * 0x100000 + (((b ^ (b >>> 15)) & 0xfff00) | (own.a & 0xff));
}

export const labelsOf = ({ labels }: Line): string =>
  typeof labels === 'string' ? labels : labels.text;
