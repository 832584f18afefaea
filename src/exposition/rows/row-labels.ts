// The labels that rows give to their series, as text that is made once.
import type { RowUse } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import { joinLabels, labelsText } from '../text/labels.js';

export class RowLabels {
  /** Of rows of the catalogue. */
  readonly #texts = new Map<Row, string>();

  /** Those that a row gives to a variable, beside those of its object. */
  ofUse({ row, reading, captured }: RowUse): string {
    const text = this.ofRow(row);
    return reading.pattern === undefined ? text : joinLabels(labelsText(captured), text);
  }

  /** Those that every series of a row carries. */
  ofRow(row: Row): string {
    let text = this.#texts.get(row);
    if (text === undefined) {
      text = labelsText(row.labels);
      this.#texts.set(row, text);
    }
    return text;
  }
}
