// The labels that rows and formats give to series, as cached text.
import type { LabelValues } from '../../catalogue/match/patterns.js';
import type { RowMatch } from '../../catalogue/match/rules.js';
import { ownLabelsOf } from '../../catalogue/row.js';
import type { Row } from '../../catalogue/row.js';
import type { Kernel } from '../wasm/kernel.js';
import { InternedText } from '../wasm/memory.js';
import { joinLabels, labelsPart, labelsText } from '../text/text-syntax.js';

export interface LabelText {
  /** As `labelsText` gives it. */
  readonly text: string;
  /** The text as part of a line. */
  readonly interned: InternedText;
}

/** The number of labels at which unused ones are first removed; later ones are removed when the number doubles. */
const MANY = 256;

/** The labels of one object, alone and joined with labels of rows. Each text is made once. */
export class ObjectLabels {
  readonly #kernel: Kernel;
  readonly #first: LabelText;
  #others: Map<string, LabelText> | undefined;
  #most = MANY;

  /** @param text as `labelsText` gives it */
  constructor(kernel: Kernel, text: string) {
    this.#kernel = kernel;
    this.#first = { text, interned: new InternedText(kernel.texts, labelsPart(text)) };
  }

  /** The labels of the object followed by these. */
  with(own: string): LabelText {
    if (own === '') return this.#first;
    const others = (this.#others ??= new Map<string, LabelText>());
    let joined = others.get(own);
    if (joined === undefined) {
      if (others.size >= this.#most) this.#forgetUnused(others);
      const text = joinLabels(this.#first.text, own);
      joined = { text, interned: new InternedText(this.#kernel.texts, labelsPart(text)) };
      others.set(own, joined);
    }
    return joined;
  }

  /** The same as plain text, which is not kept. */
  textWith(own: string): string {
    return joinLabels(this.#first.text, own);
  }

  /** Removes labels without a line: patterns take labels from the names of variables, which come and go. */
  #forgetUnused(others: Map<string, LabelText>): void {
    for (const [own, { interned }] of others) {
      if (interned.isUsed) continue;
      interned.close();
      others.delete(own);
    }
    this.#most = Math.max(MANY, 2 * others.size);
  }

  close(): void {
    this.#first.interned.close();
    for (const { interned } of this.#others?.values() ?? []) interned.close();
  }
}

export class RowLabels {
  /** The labels of each row of the catalogue. */
  readonly #texts = new Map<Row, string>();

  /** The labels that a row gives to a variable, beside those of its object. */
  ofMatch({ row, reading, captured }: RowMatch): string {
    const text = this.ofRow(row);
    return reading.pattern === undefined ? text : joinLabels(labelsText(captured), text);
  }

  /** The labels that every series of a row has. */
  ofRow(row: Row): string {
    let text = this.#texts.get(row);
    if (text === undefined) {
      text = labelsText(row.labels);
      this.#texts.set(row, text);
    }
    return text;
  }
}

/** Labels from the path of an object, followed by those of its format that neither path nor rows give. */
export function withStated(
  path: LabelValues,
  stated: LabelValues | undefined,
  rows: readonly Row[] = [],
): LabelValues {
  if (stated === undefined) return path;
  const own = new Set([...Object.keys(path), ...rows.flatMap(ownLabelsOf)]);
  const rest = Object.entries(stated).filter(([label]) => !own.has(label));
  return { ...path, ...Object.fromEntries(rest) };
}
