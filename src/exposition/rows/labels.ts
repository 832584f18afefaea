// The labels that rows and formats give to series, as cached text.
import type { LabelValues } from '../../catalogue/match/patterns.js';
import type { RowMatch } from '../../catalogue/match/row-index.js';
import { ownLabelsOf } from '../../catalogue/row.js';
import type { Row } from '../../catalogue/row.js';
import { memoize } from '../memoize.js';
import type { Kernel } from '../wasm/kernel.js';
import { StoredText } from '../wasm/memory.js';
import { decodeSeries, joinLabels, labelsPart, labelsText } from '../text/text-syntax.js';
import type { Labels } from '../text/text-syntax.js';

/** The labels of a target, which begin the labels of all its series. */
export class TargetLabels {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #renamed = new Set<string>();

  /** The number of names that were renamed because the target has a label of this name; undefined without labels. */
  get renamed(): number | undefined {
    return this.#names.length === 0 ? undefined : this.#renamed.size;
  }

  constructor(labels: Labels = {}) {
    this.#text = labelsText(labels);
    this.#names = Object.keys(labels);
  }

  /** The labels of the target, followed by `labels`. Both are results of `labelsText`. */
  before = (labels: string): string => joinLabels(this.#text, this.beside(labels));

  /**
   * Labels that do not clash with the labels of the target: like Prometheus, renames `app` to `exported_app`.
   * @param labels the result of `labelsText`
   */
  beside(labels: string): string {
    if (!this.#names.some((name) => labels.includes(`${name}="`))) return labels;
    const all = decodeSeries(`{${labels}}`).labels;
    const renamed = Object.entries(all).map(([name, value]) => {
      if (!this.#names.includes(name)) return [name, value];
      this.#renamed.add(name);
      let free = `exported_${name}`;
      while (free in all || this.#names.includes(free)) free = `exported_${free}`;
      return [free, value];
    });
    return labelsText(Object.fromEntries(renamed) as Labels, true);
  }
}

/** Unused labels are removed when there are this many labels, and again whenever their number has doubled. */
const CLEANUP_SIZE = 256;

/** The labels of one object, alone and joined with labels of rows. Each text is made once. */
export class ObjectLabels {
  readonly #kernel: Kernel;
  readonly #ofTarget: TargetLabels;
  /** The labels of the object alone. */
  readonly #labels: string;
  readonly #first: StoredText;
  #others: Map<string, StoredText> | undefined;
  #cleanupSize = CLEANUP_SIZE;

  /** @param labels the result of `labelsText`, without the labels of the target */
  constructor(
    { kernel, targetLabels }: { readonly kernel: Kernel; readonly targetLabels: TargetLabels },
    labels: string,
  ) {
    this.#kernel = kernel;
    this.#ofTarget = targetLabels;
    this.#labels = labels;
    this.#first = this.#stored('');
  }

  /** The labels of the object, followed by the labels `own` of a row, as part of a line. */
  with(own: string): StoredText {
    if (own === '') return this.#first;
    const others = (this.#others ??= new Map<string, StoredText>());
    let joined = others.get(own);
    if (joined === undefined) {
      if (others.size >= this.#cleanupSize) this.#removeUnused(others);
      joined = this.#stored(own);
      others.set(own, joined);
    }
    return joined;
  }

  #stored(own: string): StoredText {
    return new StoredText(this.#kernel.texts, labelsPart(this.textWith(own)));
  }

  /** The result of `labelsText` for the labels that `with` returns. The method caches nothing. */
  textWith(own: string): string {
    // Rename all labels together: `app` of a row must not get the name `exported_app` of the object.
    return this.#ofTarget.before(joinLabels(this.#labels, own));
  }

  /**
   * Removes labels that no line uses. Patterns make labels from names of variables, so labels become unused when
   * publishers remove variables.
   */
  #removeUnused(others: Map<string, StoredText>): void {
    for (const [own, labels] of others) {
      if (labels.isUsed) continue;
      labels.close();
      others.delete(own);
    }
    this.#cleanupSize = Math.max(CLEANUP_SIZE, 2 * others.size);
  }

  close(): void {
    this.#first.close();
    for (const labels of this.#others?.values() ?? []) labels.close();
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
