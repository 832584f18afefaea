// Puts the series of rows into the text; each series of a row has a key of its own.
import type { Catalogue } from '../../catalogue/catalogue.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { ValueReference, Row, RowOutput, Series } from '../../catalogue/row.js';
import type { Line } from '../text/line.js';
import { floatText, joinLabels, labelsPart, labelsText } from '../text/text-syntax.js';
import type { LabelText } from './labels.js';
import type { SeriesRegistry } from './series-registry.js';

/** The index of a row's family, and the series index of the row's first line. */
interface LinePosition {
  readonly familyIndex: number;
  readonly firstSeries: number;
}

export class RowLines {
  readonly #registry: SeriesRegistry;
  readonly #familyIndexes: ReadonlyMap<string, number>;
  /** The positions of the rows of the catalogue. */
  readonly #positions = new Map<Row, LinePosition>();

  /** @param catalogue defines the order of families and rows. Other families follow. */
  constructor(registry: SeriesRegistry, catalogue: Catalogue | undefined) {
    this.#registry = registry;
    const { classes = [], families = new Map() } = catalogue ?? {};
    this.#familyIndexes = new Map(
      [...families.keys()].map((name: string, familyIndex) => [name, familyIndex]),
    );
    classes
      .flatMap(({ rows }) => rows)
      .forEach((row, index) => {
        this.#positions.set(row, {
          familyIndex: this.#familyIndexOf(row),
          firstSeries: index * MAX_LINES_A_ROW,
        });
      });
  }

  /**
   * Replaces the series of a row for a node.
   * @param maxSeries an upper bound of the number of series that the row has shown for this node before
   */
  set(row: Row, labels: LabelText, nodeId: number, shown: RowOutput, maxSeries: number): void {
    if (shown === 'unchanged') return;
    const { family } = row;
    const { familyIndex, firstSeries } = this.#positionOf(row);
    let seriesIndex = firstSeries;
    if (isOne(shown))
      this.#registry.put(
        family,
        familyIndex,
        { nodeId, seriesIndex: seriesIndex++ },
        referenceLine(labels, shown),
      );
    else if (shown.length > MAX_LINES_A_ROW)
      // Omit all series of the row, since a part of a histogram is useless.
      this.#registry.omit(shown.length, family.name, { nodeId, seriesIndex: seriesIndex++ });
    else
      for (const each of shown)
        this.#registry.put(
          family,
          familyIndex,
          { nodeId, seriesIndex: seriesIndex++ },
          lineOf(labels, each),
        );
    for (
      const end = firstSeries + Math.min(maxSeries, MAX_LINES_A_ROW);
      seriesIndex < end;
      seriesIndex++
    )
      this.#registry.remove(family.name, { nodeId, seriesIndex });
  }

  /** Counts the series of a row for a node: those shown, and those that clash with another series. */
  stateOf(
    row: Row,
    nodeId: number,
    maxSeries: number,
  ): { readonly shown: number; readonly clashing: number } {
    const { name } = row.family;
    const { firstSeries } = this.#positionOf(row);
    const counts = { shown: 0, clashing: 0 };
    for (let index = 0; index < Math.min(maxSeries, MAX_LINES_A_ROW); index++) {
      const state = this.#registry.stateOf(name, { nodeId, seriesIndex: firstSeries + index });
      if (state !== undefined) counts[state]++;
    }
    return counts;
  }

  #positionOf(row: Row): LinePosition {
    return this.#positions.get(row) ?? { familyIndex: this.#familyIndexOf(row), firstSeries: 0 };
  }

  #familyIndexOf({ family }: Row): number {
    return this.#familyIndexes.get(family.name) ?? this.#familyIndexes.size;
  }
}

const isOne = (shown: readonly Series[] | ValueReference): shown is ValueReference =>
  'address' in shown;

const referenceLine = ({ interned }: LabelText, { address, opcode }: ValueReference): Line => ({
  suffix: '',
  labels: interned,
  constant: '',
  cell: address,
  opcode,
});

function lineOf(labels: LabelText, { suffix = '', labels: own, value }: Series): Line {
  const all =
    own === undefined
      ? labels.interned
      : labelsPart(joinLabels(labels.text, labelsText(written(own))));
  return typeof value === 'number'
    ? { suffix, labels: all, constant: `${floatText(value)}\n`, cell: 0, opcode: 0 }
    : { suffix, labels: all, constant: '', cell: value.address, opcode: value.opcode };
}

const written = (labels: NonNullable<Series['labels']>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [
      label,
      typeof value === 'number' ? floatText(value) : value,
    ]),
  );
