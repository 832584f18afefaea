// Puts the series of rows into the text; each series of a row has a key of its own.
import type { Catalogue } from '../../catalogue/catalogue.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { LiveValue, Row, RowOutput, Series } from '../../catalogue/row.js';
import type { Line } from '../wasm/line-table.js';
import { floatText, joinLabels, labelsPart, labelsText } from '../text/text-syntax.js';
import type { LabelText } from './labels.js';
import type { SeriesRegister } from './series-register.js';

/** The rank of a row's family, and the sub of the row's first line. */
interface LinePosition {
  readonly rank: number;
  readonly first: number;
}

export class RowLines {
  readonly #register: SeriesRegister;
  readonly #ranks: ReadonlyMap<string, number>;
  /** The positions of the rows of the catalogue. */
  readonly #positions = new Map<Row, LinePosition>();

  /** @param catalogue defines the order of families and rows, those without a row last; undefined for none */
  constructor(register: SeriesRegister, catalogue: Catalogue | undefined) {
    this.#register = register;
    const { classes = [], families = new Map() } = catalogue ?? {};
    this.#ranks = new Map([...families.keys()].map((name: string, rank) => [name, rank]));
    classes
      .flatMap(({ rows }) => rows)
      .forEach((row, index) => {
        this.#positions.set(row, { rank: this.#rankOf(row), first: index * MAX_LINES_A_ROW });
      });
  }

  /**
   * Replaces the series of a row and owner, an object or a variable.
   * @param room the most series that it had before
   */
  set(row: Row, labels: LabelText, owner: number, shown: RowOutput, room: number): void {
    if (shown === 'unchanged') return;
    const { family } = row;
    const { rank, first } = this.#positionOf(row);
    let sub = first;
    if (isOne(shown))
      this.#register.put(family, rank, { owner, sub: sub++ }, liveLine(labels, shown));
    else
      for (const each of fitting(shown))
        this.#register.put(family, rank, { owner, sub: sub++ }, lineOf(labels, each));
    for (const end = first + Math.min(room, MAX_LINES_A_ROW); sub < end; sub++)
      this.#register.remove(family.name, { owner, sub });
    if (!isOne(shown) && shown.length > MAX_LINES_A_ROW)
      this.#register.omit(shown.length, family.name, { owner, sub: first });
  }

  /** The numbers of series of a row and owner that are shown, and that wait because of a clash. */
  stateOf(
    row: Row,
    owner: number,
    room: number,
  ): { readonly shown: number; readonly waiting: number } {
    const { name } = row.family;
    const { first } = this.#positionOf(row);
    const counts = { shown: 0, waiting: 0 };
    for (let index = 0; index < Math.min(room, MAX_LINES_A_ROW); index++) {
      const state = this.#register.stateOf(name, { owner, sub: first + index });
      if (state !== undefined) counts[state]++;
    }
    return counts;
  }

  #positionOf(row: Row): LinePosition {
    return this.#positions.get(row) ?? { rank: this.#rankOf(row), first: 0 };
  }

  #rankOf({ family }: Row): number {
    return this.#ranks.get(family.name) ?? this.#ranks.size;
  }
}

/** All series of a row, or none if they are too many: half a histogram is useless. */
const fitting = (series: readonly Series[]): readonly Series[] =>
  series.length > MAX_LINES_A_ROW ? [] : series;

const isOne = (shown: readonly Series[] | LiveValue): shown is LiveValue => 'address' in shown;

const liveLine = ({ shared }: LabelText, { address, op }: LiveValue): Line => ({
  suffix: '',
  labels: shared,
  fixed: '',
  cell: address,
  op,
});

function lineOf(labels: LabelText, { suffix = '', labels: own, value }: Series): Line {
  const all =
    own === undefined
      ? labels.shared
      : labelsPart(joinLabels(labels.text, labelsText(written(own))));
  return typeof value === 'number'
    ? { suffix, labels: all, fixed: `${floatText(value)}\n`, cell: 0, op: 0 }
    : { suffix, labels: all, fixed: '', cell: value.address, op: value.op };
}

const written = (labels: NonNullable<Series['labels']>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).map(([label, value]) => [
      label,
      typeof value === 'number' ? floatText(value) : value,
    ]),
  );
