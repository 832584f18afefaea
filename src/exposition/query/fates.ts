// What becomes of an object's state or a variable's value: the metrics of its rows, or why there are none.
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { ManagedObject, TreeMetric, ValueType, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Probe } from '../read/probe.js';
import type { Tracked } from '../read/slots.js';
import { isVariable } from '../read/tree-walk.js';
import type { Frames } from '../rows/distribution.js';
import type { RowLines } from '../rows/row-lines.js';
import type { SeriesRegister } from '../rows/series-register.js';
import type { Reader, Readers } from './readers.js';

export interface FateParts {
  readonly readers: Readers;
  readonly lines: RowLines;
  readonly register: SeriesRegister;
  readonly frames: Frames;
  readonly probe: Probe;
}

/** It only looks: nothing is made for a render. */
export class Fates {
  readonly #parts: FateParts;

  constructor(parts: FateParts) {
    this.#parts = parts;
  }

  /** Names of the metrics that rows make of it, shown or not. */
  namesOf(item: Tracked): readonly string[] {
    return this.#parts.readers.metricNamesOf(item);
  }

  isRead(item: Tracked): boolean {
    return this.#parts.readers.of(item).length > 0;
  }

  /** Whether any series of it is shown. */
  isShown(item: Tracked): boolean {
    return this.#parts.readers.of(item).some((reader) => this.#standingOf(reader, item).shown > 0);
  }

  metricsOf(item: Tracked): readonly TreeMetric[] {
    return this.#parts.readers.of(item).map((reader) => {
      const { name, type } = reader.row.family;
      const { shown: series, waiting } = this.#standingOf(reader, item);
      const why = series > 0 ? '' : this.#whyNot(reader, item, waiting > 0);
      return { name, type, labels: reader.labels(), series, why };
    });
  }

  /** Why no row reads a tracked item; empty where one does, and for objects whose variables are read. */
  whyUnread(item: Tracked): string {
    return this.#parts.readers.whyNone(item);
  }

  #standingOf({ row }: Reader, item: Tracked): ReturnType<RowLines['standing']> {
    const [owner, room] = isVariable(item)
      ? [ownerOf(item, row.reads.length), row.linesOf(item)]
      : [item.id, row.linesOf()];
    return this.#parts.lines.standing(row, owner, room);
  }

  #whyNot({ row, reading }: Reader, item: Tracked, isWaiting: boolean): string {
    const { register, probe, frames } = this.#parts;
    if (!probe.isSynced(item)) return 'not synced yet';
    if (isWaiting) return `clash: ${register.clashOf(row.family)}`;
    if (isVariable(item)) {
      const types = reading?.types ?? [];
      if (reading !== undefined && !types.includes(item.type)) return wrongType(item.type, types);
      if (isFramed(item.type) && row.isDerived && frames.of(item) === undefined)
        return 'no whole copy of it could be had';
      if (row.linesOf(item) > MAX_LINES_A_ROW)
        return `a row shows ${MAX_LINES_A_ROW} series of a value at most`;
    }
    const refusal = register.refusalOf(row.family);
    if (refusal !== '') return `left out: ${refusal}`;
    const nothing = 'the row shows no series of this value';
    return register.leftOut === 0 ? nothing : `${nothing}, or a limit of the target left it out`;
  }
}

/** The series of a row of several variables belong to their object. */
const ownerOf = ({ id, object }: Variable & { readonly object: ManagedObject }, reads: number) =>
  reads > 1 ? object.id : id;

function wrongType(type: ValueType, types: readonly ValueType[]): string {
  const [last, ...others] = types.toReversed();
  const shown = [others.toReversed().join(', '), last].filter(Boolean).join(' or ');
  return `its type is ${type}, and the row shows ${shown}`;
}
