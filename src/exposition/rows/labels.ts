// The labels that rows and formats give to series, as cached text.
import type { LabelValues } from '../../catalogue/match/patterns.js';
import type { RowMatch } from '../../catalogue/match/row-index.js';
import { ownLabelsOf } from '../../catalogue/row.js';
import type { Row } from '../../catalogue/row.js';
import { memoize } from '../memoize.js';
import type { Kernel } from '../wasm/kernel.js';
import { StoredText } from '../wasm/memory.js';
import { joinLabels, labelsPart, labelsText } from '../text/text-syntax.js';

export interface LabelText {
  /** The result of `labelsText`. */
  readonly text: string;
  /** The text as part of a line. */
  readonly interned: StoredText;
}

/** Unused labels are removed when there are this many labels, and again whenever their number has doubled. */
const CLEANUP_SIZE = 256;

/** The labels of one object, alone and joined with labels of rows. Each text is made once. */
export class ObjectLabels {
  readonly #kernel: Kernel;
  readonly #first: LabelText;
  #others: Map<string, LabelText> | undefined;
  #cleanupSize = CLEANUP_SIZE;

  /** @param text the result of `labelsText` */
  constructor(kernel: Kernel, text: string) {
    this.#kernel = kernel;
    this.#first = { text, interned: new StoredText(kernel.texts, labelsPart(text)) };
  }

  /** The labels of the object, followed by the labels `own`. */
  with(own: string): LabelText {
    if (own === '') return this.#first;
    const others = (this.#others ??= new Map<string, LabelText>());
    let joined = others.get(own);
    if (joined === undefined) {
      if (others.size >= this.#cleanupSize) this.#removeUnused(others);
      const text = joinLabels(this.#first.text, own);
      joined = { text, interned: new StoredText(this.#kernel.texts, labelsPart(text)) };
      others.set(own, joined);
    }
    return joined;
  }

  /** The text of the labels that `with` returns. The method caches nothing. */
  textWith(own: string): string {
    return joinLabels(this.#first.text, own);
  }

  /**
   * Removes labels that no line uses. Patterns make labels from names of variables, so labels become unused when
   * publishers remove variables.
   */
  #removeUnused(others: Map<string, LabelText>): void {
    for (const [own, { interned }] of others) {
      if (interned.isUsed) continue;
      interned.close();
      others.delete(own);
    }
    this.#cleanupSize = Math.max(CLEANUP_SIZE, 2 * others.size);
  }

  close(): void {
    this.#first.interned.close();
    for (const { interned } of this.#others?.values() ?? []) interned.close();
  }
}

/** The labels that every series of a row has. */
export const rowLabels = memoize((row: Row) => labelsText(row.labels));

/** The labels that a row adds to the labels of the variable's object. */
export const matchLabels = ({ row, input, nameLabels }: RowMatch): string =>
  input.pattern === undefined ? rowLabels(row) : joinLabels(labelsText(nameLabels), rowLabels(row));

/**
 * Labels from the path of an object, followed by the labels that the format states, except those that the path or
 * rows define.
 */
export function withDeclared(
  path: LabelValues,
  declared: LabelValues | undefined,
  rows: readonly Row[] = [],
): LabelValues {
  if (declared === undefined) return path;
  const own = new Set([...Object.keys(path), ...rows.flatMap(ownLabelsOf)]);
  const rest = Object.entries(declared).filter(([label]) => !own.has(label));
  return { ...path, ...Object.fromEntries(rest) };
}
