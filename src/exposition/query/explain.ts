// Explains to people what becomes of an item: why it is not tracked, which metrics it gives, or why none.
import type { Filters } from '../../catalogue/match/filters.js';
import { objectPath } from '../../catalogue/match/rules.js';
import type { Rules } from '../../catalogue/match/rules.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { Reading, Row } from '../../catalogue/row.js';
import type { LargeMap } from '../../collections/large-map.js';
import type { ManagedObject, TreeMetric, ValueType, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { SlotReader } from '../read/slot-reader.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import type { Frames } from '../rows/distribution.js';
import type { RowLabels } from '../rows/labels.js';
import type { RowLines } from '../rows/row-lines.js';
import type { BoundObjects } from '../rows/bound-objects.js';
import type { SeriesRegistry } from '../rows/series-registry.js';
import { limitText } from '../target-limits.js';
import type { TargetUsage } from '../target-limits.js';

interface TrackingParts {
  readonly root: ManagedObject;
  readonly filters: Pick<Filters, 'leftOutBy'>;
  /** The tracked objects, by id. */
  readonly tracked: Pick<LargeMap<ManagedObject>, 'has'>;
  readonly slotReader: SlotReader;
  readonly usage: TargetUsage;
  /** Whether every item of the tree so far has been processed. */
  readonly isBound: () => boolean;
}

/** Says why a target does not track an object or variable. */
export class TrackingExplainer {
  readonly #parts: TrackingParts;

  constructor(parts: TrackingParts) {
    this.#parts = parts;
  }

  /** Why an object is not tracked; empty if it is. */
  whyNotObject(object: ManagedObject): string {
    const { root, filters, tracked } = this.#parts;
    if (tracked.has(object.id)) return '';
    const filter = filters.leftOutBy(objectPath(root, object));
    if (filter !== undefined) return `not read: ${filter} leaves it out`;
    return this.#whyNotYet('objects');
  }

  whyNotVariable(variable: Variable): string {
    if (this.#parts.slotReader.isTracked(variable)) return '';
    const ofObject = this.whyNotObject(variable.object);
    if (ofObject !== '') return ofObject;
    return this.#whyNotYet('variables');
  }

  #whyNotYet(kind: 'objects' | 'variables'): string {
    const { usage, isBound } = this.#parts;
    // The limit that left the item out may have usage again.
    const limit = usage.reached(kind) ?? kind;
    return isBound() ? `left out: ${limitText(usage.limits, limit)}` : 'not taken in yet';
  }
}

/** A row that reads a variable or shows a state. */
export interface Reader {
  readonly row: Row;
  /** Undefined for a state. */
  readonly reading: Reading | undefined;
  /** The text of the labels that all its series have. */
  readonly labels: () => string;
}

interface MetricExplainerParts {
  readonly objects: BoundObjects;
  /** Undefined for an application without a catalogue. */
  readonly rules: Rules | undefined;
  readonly labels: RowLabels;
  readonly lines: RowLines;
  readonly registry: SeriesRegistry;
  readonly frames: Frames;
  readonly slotReader: SlotReader;
}

/** Lists the metrics of a tracked item, or says why it has none. It changes nothing. */
export class MetricExplainer {
  readonly #parts: MetricExplainerParts;

  constructor(parts: MetricExplainerParts) {
    this.#parts = parts;
  }

  isRead(item: TreeNode): boolean {
    return this.#readersOf(item).length > 0;
  }

  /** Whether a series of the item is shown. */
  isShown(item: TreeNode): boolean {
    return this.#readersOf(item).some((reader) => this.#stateOf(reader, item).shown > 0);
  }

  metricsOf(item: TreeNode): readonly TreeMetric[] {
    return this.#readersOf(item).map((reader) => {
      const { name, type } = reader.row.family;
      const { shown: series, waiting } = this.#stateOf(reader, item);
      const why = series > 0 ? '' : this.#whyNot(reader, item, waiting > 0);
      return { name, type, labels: reader.labels(), series, why };
    });
  }

  #stateOf({ row }: Reader, item: TreeNode): ReturnType<RowLines['stateOf']> {
    const [nodeId, usage] = isVariable(item)
      ? [ownerOf(item, row.reads.length), row.linesOf(item)]
      : [item.id, row.linesOf()];
    return this.#parts.lines.stateOf(row, nodeId, usage);
  }

  #whyNot({ row, reading }: Reader, item: TreeNode, isWaiting: boolean): string {
    const { registry, slotReader, frames } = this.#parts;
    if (!slotReader.isSynced(item)) return 'not synced yet';
    if (isWaiting) return `clash: ${registry.clashOf(row.family)}`;
    if (isVariable(item)) {
      const types = reading?.types ?? [];
      if (reading !== undefined && !types.includes(item.type)) return wrongType(item.type, types);
      if (isFramed(item.type) && row.isComputed && frames.of(item) === undefined)
        return 'no whole copy of it could be had';
      if (row.linesOf(item) > MAX_LINES_A_ROW)
        return `a row shows ${MAX_LINES_A_ROW} series of a value at most`;
    }
    const refusal = registry.refusalOf(row.family);
    if (refusal !== '') return `left out: ${refusal}`;
    const nothing = 'the row shows no series of this value';
    return registry.omitted === 0 ? nothing : `${nothing}, or a limit of the target left it out`;
  }

  /** The rows of an item; none for a variable whose name a later one has. */
  #readersOf(item: TreeNode): readonly Reader[] {
    if (!isVariable(item)) return this.#ofState(item);
    return this.#parts.objects.isHidden(item) ? [] : this.#ofVariable(item);
  }

  /** The names of the metrics that rows make of an item, shown or not. A search asks for those of very many variables. */
  namesOf(item: TreeNode): readonly string[] {
    if (!isVariable(item))
      return this.#parts.objects.statesOf(item).map(({ row }) => row.family.name);
    const bound = this.#parts.objects.boundOf(item.object);
    if (bound === undefined || this.#parts.objects.isHidden(item)) return [];
    const names: string[] = [];
    for (const { set } of bound.rules)
      for (const { row } of set.matchesOf(item.name)) names.push(row.family.name);
    if (names.length > 0) return names;
    const row = bound.described?.rowOf(item);
    return row === undefined ? names : [row.family.name];
  }

  /** Why no row reads a tracked item; empty where one does, and for objects whose variables are read. */
  whyUnread(item: TreeNode): string {
    if (!isVariable(item)) return this.#whyNoneOf(item);
    if (this.#parts.objects.isHidden(item)) return 'a later variable of this object has its name';
    const ofObject = this.#whyNoneOf(item.object);
    if (ofObject !== '') return ofObject;
    if (this.#readersOf(item).length > 0) return '';
    return this.#parts.objects.boundOf(item.object)?.described === undefined
      ? 'no row reads it'
      : 'only rows of other classes than those of the target read it';
  }

  /** Why no row reads the variables of an object; empty where some may. */
  #whyNoneOf(object: ManagedObject): string {
    const bound = this.#parts.objects.boundOf(object);
    if (bound === undefined || bound.rules.length > 0 || bound.described !== undefined) return '';
    if (this.#parts.rules?.hasClass(object.className) !== true) return 'no row is for its class';
    return 'the rows for its class are for objects at other places';
  }

  #ofState(object: ManagedObject): readonly Reader[] {
    return this.#parts.objects.statesOf(object).map(({ row, labels }) => ({
      row,
      reading: undefined,
      labels: () => labels.text,
    }));
  }

  #ofVariable(variable: Variable): readonly Reader[] {
    const bound = this.#parts.objects.boundOf(variable.object);
    if (bound === undefined) return [];
    const readers = bound.rules.flatMap(({ set, labels }) =>
      set.matchesOf(variable.name).map((use) => ({
        row: use.row,
        reading: use.reading,
        labels: () => labels.textWith(this.#parts.labels.ofMatch(use)),
      })),
    );
    if (readers.length > 0) return readers;
    const { described } = bound;
    const row = described?.rowOf(variable);
    if (described === undefined || row === undefined) return readers;
    return [{ row, reading: row.reads[0], labels: () => described.textOf(variable) }];
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
