// Puts the series of rows into the exposition text so that no two have the same name and labels.
import { NameOwners, unsharedNames } from '../../catalogue/names.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { Row, RowOutput, Series, ValueReference } from '../../catalogue/row.js';
import { NumberSet } from '../../collections/large-map.js';
import type { FamilyMetadata } from '../../model.js';
import { labelsOf } from '../text/line.js';
import type { Line, LineKey } from '../text/line.js';
import { OmittedItems, limitText } from '../target-limits.js';
import type { ViewContext } from '../view-context.js';
import { costOf } from '../text/exposition-text.js';
import type { Family, LinePosition } from '../text/family.js';
import { floatText, joinLabels, labelsIn, labelsPart, labelsText } from '../text/text-syntax.js';
import type { StoredText } from '../wasm/memory.js';
import type { BoundRow } from './bound-objects.js';
import type { TargetLabels } from './labels.js';

/** A series of a row, shown or clashing. */
interface RowSeries {
  readonly metadata: FamilyMetadata;
  readonly familyIndex: number;
  readonly key: LineKey;
  readonly line: Line;
  /** The hash of its name and labels. */
  readonly hash: number;
}

/** The maximum number of clashing series that are kept. Dropped series together count as one. */
const MAX_CLASHING = 10_000;

const positionOf = (name: string, { nodeId, seriesIndex }: LineKey): string =>
  `${nodeId} ${seriesIndex} ${name}`;

/** What a clashing series waits for: the hash of its name and labels, and the names of its metric. */
const awaitedBy = ({ hash, metadata }: RowSeries): readonly (number | string)[] => [
  hash,
  ...unsharedNames(metadata),
];

class ClashingList {
  readonly #byPosition = new Map<string, RowSeries>();
  /** The clashing series, oldest first, by each hash and name that they wait for. */
  readonly #waiting = new Map<number | string, Set<RowSeries>>();
  #dropped = 0;

  /**
   * The number of clashing series, plus one if any were dropped. Dropped series are not shown until the target gets a
   * new view.
   */
  get size(): number {
    return this.#byPosition.size + this.#dropped;
  }

  /** The clashing series with this metric name and key. */
  at(name: string, key: LineKey): RowSeries | undefined {
    // Fast path: every new line calls this, and clashes are rare.
    return this.#byPosition.size === 0 ? undefined : this.#byPosition.get(positionOf(name, key));
  }

  /** Replaces the series with the same metric name and key. Drops the new series if too many clash. */
  put(next: RowSeries): void {
    this.delete(next.metadata.name, next.key);
    if (this.#byPosition.size >= MAX_CLASHING) {
      this.#dropped = 1;
      return;
    }
    this.#byPosition.set(positionOf(next.metadata.name, next.key), next);
    for (const awaited of awaitedBy(next)) {
      const waiting = this.#waiting.get(awaited);
      if (waiting === undefined) this.#waiting.set(awaited, new Set([next]));
      else waiting.add(next);
    }
  }

  delete(name: string, key: LineKey): void {
    const former = this.at(name, key);
    if (former === undefined) return;
    this.#byPosition.delete(positionOf(name, key));
    for (const awaited of awaitedBy(former)) {
      const waiting = this.#waiting.get(awaited);
      waiting?.delete(former);
      if (waiting?.size === 0) this.#waiting.delete(awaited);
    }
  }

  /** The series that wait for one of these hashes and names, oldest first for each. */
  waitingFor(free: readonly (number | string)[]): ReadonlySet<RowSeries> {
    return new Set(free.flatMap((each) => [...(this.#waiting.get(each) ?? [])]));
  }
}

/** The maximum number of families that one target shows. */
const MAX_FAMILIES = 10_000;
/** The prefix of the exporter's own metrics. */
const OWN_PREFIX = 'shm_exporter_';
const SAME_SERIES = 'another series has this name and these labels';

type RegistryContext = Pick<
  ViewContext,
  'text' | 'catalogue' | 'budget' | 'counters' | 'onClash' | 'usage' | 'onOmitted' | 'targetLabels'
>;

/** The index of a row's family, and the series index of the row's first line. */
interface RowPosition {
  readonly familyIndex: number;
  readonly firstSeries: number;
}

/**
 * Keeps names unique: shows the first series with a name and labels, and the first metric with a name. Later ones
 * clash. They are counted, and are shown once the first one is removed. Each series of a row has a key of its own.
 */
export class SeriesRegistry {
  readonly #context: RegistryContext;
  readonly #familyIndexes: ReadonlyMap<string, number>;
  /** The positions of the rows of the catalogue. */
  readonly #positions = new Map<Row, RowPosition>();
  readonly #hashes = new NumberSet();
  /** The metrics that are shown. */
  readonly #owners = new NameOwners();
  readonly #clashing = new ClashingList();
  /** The omitted series, in groups by node id. A series is identified by its series index and metric name. */
  readonly #omitted: OmittedItems;

  constructor(context: RegistryContext) {
    this.#context = context;
    this.#omitted = new OmittedItems(context.counters, 'omittedSeries');
    const { classes = [], families = new Map<string, unknown>() } = context.catalogue ?? {};
    this.#familyIndexes = new Map([...families.keys()].map((name, index) => [name, index]));
    classes
      .flatMap(({ rows }) => rows)
      .forEach((row, index) => {
        this.#positions.set(row, {
          familyIndex: this.#familyIndexOf(row),
          firstSeries: index * MAX_LINES_A_ROW,
        });
      });
  }

  /** The number of series that are not shown now because another series or metric has their name. */
  get clashing(): number {
    return this.#clashing.size;
  }

  /** The number of series that are omitted now because of a limit or a reserved name. */
  get omitted(): number {
    return this.#omitted.amount;
  }

  /** Counts the series of a row for a node: those shown, and those that clash with another series. */
  countsOf({ row, nodeId, maxSeries }: Pick<BoundRow, 'row' | 'nodeId' | 'maxSeries'>): {
    readonly shown: number;
    readonly clashing: number;
  } {
    const { name } = row.family;
    const { firstSeries } = this.#positionOf(row);
    const counts = { shown: 0, clashing: 0 };
    for (let index = 0; index < Math.min(maxSeries, MAX_LINES_A_ROW); index++) {
      const key = { nodeId, seriesIndex: firstSeries + index };
      if (this.#context.text.hash(name, key) !== undefined) counts.shown++;
      else if (this.#clashing.at(name, key) !== undefined) counts.clashing++;
    }
    return counts;
  }

  /** Why a clashing series is not shown. */
  clashOf(metadata: FamilyMetadata): string {
    return this.#owners.refusalOf(metadata) || SAME_SERIES;
  }

  /** Why no more series of this metric can be shown; empty if another series can be shown. */
  refusalOf(metadata: FamilyMetadata): string {
    const { name } = metadata;
    if (name.startsWith(OWN_PREFIX))
      return `metric names that begin with ${OWN_PREFIX} are reserved`;
    const refusal = this.#owners.refusalOf(metadata);
    if (refusal !== '') return refusal;
    const limit = this.#context.usage.reached('series', 1);
    if (limit !== undefined) return limitText(this.#context.usage.limits, limit);
    if (!this.isShown(name) && this.#context.text.families >= MAX_FAMILIES)
      return `a target shows at most ${MAX_FAMILIES} metrics`;
    return '';
  }

  /** Whether any series of a metric is shown. */
  isShown(name: string): boolean {
    return this.#context.text.family(name) !== undefined;
  }

  /**
   * Replaces the series of a row for a node.
   * @param maxSeries an upper bound of the number of series that the row has shown for this node before
   */
  set(row: Row, labels: StoredText, nodeId: number, shown: RowOutput, maxSeries: number): void {
    if (shown === 'unchanged') return;
    const { family } = row;
    const { familyIndex, firstSeries } = this.#positionOf(row);
    let seriesIndex = firstSeries;
    if (isOne(shown)) {
      const key = { nodeId, seriesIndex: seriesIndex++ };
      this.#put(family, familyIndex, key, referenceLine(labels, shown));
    } else if (shown.length > MAX_LINES_A_ROW)
      // Omit all series of the row, since a part of a histogram is useless.
      this.#omit(shown.length, family.name, { nodeId, seriesIndex: seriesIndex++ });
    else
      for (const each of shown) {
        const key = { nodeId, seriesIndex: seriesIndex++ };
        this.#put(family, familyIndex, key, lineOf(labels, each, this.#context.targetLabels));
      }
    const end = firstSeries + Math.min(maxSeries, MAX_LINES_A_ROW);
    for (; seriesIndex < end; seriesIndex++) this.#remove(family.name, { nodeId, seriesIndex });
  }

  /**
   * Counts a series that a row cannot show. All such series together add one to `omitted`, until the target gets a new
   * view.
   */
  countOmitted(): void {
    this.#omitted.addUnrecorded();
  }

  /**
   * Omits series.
   * @param key the key of the first of these series, whose line is removed. The series count as omitted until the
   *   first one is shown, clashes or is removed.
   */
  #omit(series: number, name: string, key: LineKey): void {
    this.#removeLine(name, key);
    this.#omitted.add(key.nodeId, omittedKey(name, key), series);
  }

  /** Adds a series, or replaces the line of the series with this key. */
  #put(metadata: FamilyMetadata, familyIndex: number, key: LineKey, line: Line): void {
    const { name } = metadata;
    const family = this.#context.text.family(name);
    const hash = this.#context.text.seriesHash(name, line);
    const position = family?.find(key);
    const former = position && family?.hashAt(position);
    const series = { metadata, familyIndex, key, line, hash };
    if (!this.#reserve(series, family, former)) {
      if (former !== undefined) this.#remove(name, key);
      // Copy the text of the labels, since shared labels are removed once no shown line has them.
      this.#addClash({ ...series, line: { ...line, labels: labelsOf(line) } });
      return;
    }
    if (former === undefined || family === undefined || position === undefined) {
      this.#clashing.delete(name, key);
      this.#show(series, family, position);
      return;
    }
    if (former === hash || this.#mayGrow(family, position, line))
      this.#context.text.put(metadata, familyIndex, key, line, hash, position);
    else {
      this.#context.text.remove(name, key);
      this.#omitSeries(series);
    }
    if (former === hash) return;
    this.#hashes.delete(former);
    this.#showClashing(family.metadata, former);
  }

  #remove(name: string, key: LineKey): void {
    this.#uncountOmitted(name, key);
    this.#removeLine(name, key);
  }

  #removeLine(name: string, key: LineKey): void {
    const family = this.#context.text.family(name);
    const hash = this.#context.text.hash(name, key);
    if (family === undefined || hash === undefined) {
      this.#clashing.delete(name, key);
      return;
    }
    this.#context.text.remove(name, key);
    this.#hashes.delete(hash);
    this.#showClashing(family.metadata, hash);
  }

  /** Shows a new series after `#reserve`, within the limits of the target. */
  #show(series: RowSeries, family: Family | undefined, position?: LinePosition): void {
    const { metadata, familyIndex, key, line, hash } = series;
    if (!this.#mayAdd(metadata.name, family, line)) {
      this.#omitSeries(series);
      return;
    }
    this.#uncountOmitted(metadata.name, key);
    this.#context.text.put(metadata, familyIndex, key, line, hash, position);
    if (family === undefined) this.#owners.add(metadata);
  }

  #omitSeries({ metadata, key, line, hash }: RowSeries): void {
    this.#hashes.delete(hash);
    this.#omit(1, metadata.name, key);
    this.#context.budget.spend(costOf(line));
  }

  /** Stops counting the series with this key as omitted. */
  #uncountOmitted(name: string, key: LineKey): void {
    if (this.#omitted.has(key.nodeId)) this.#omitted.delete(key.nodeId, omittedKey(name, key));
  }

  /** Whether the limits allow the new text of a shown series. */
  #mayGrow(family: Family, position: LinePosition, line: Line): boolean {
    const { name } = family.metadata;
    const { suffix } = line;
    const growth =
      name.length + suffix.length + labelsOf(line).length - family.lineBytesAt(position);
    const limit = growth > 0 ? this.#context.usage.reachedByText(growth) : undefined;
    if (limit !== undefined) this.#context.onOmitted(limit, `series ${seriesOf(name, line)}`);
    return limit === undefined;
  }

  /** Whether the limits allow a new series; false for names with the exporter's prefix. Reports a reached limit. */
  #mayAdd(name: string, family: Family | undefined, line: Line): boolean {
    if (family === undefined && name.startsWith(OWN_PREFIX)) return false;
    const limit = this.#context.usage.reached('series', labelsOf(line).length);
    if (limit !== undefined) {
      this.#context.onOmitted(limit, `series ${seriesOf(name, line)}`);
      return false;
    }
    return family !== undefined || this.#context.text.families < MAX_FAMILIES;
  }

  /**
   * Reserves the name and labels of a series that replaces the series with the hash `former`, if any. Returns false if
   * another series has the same name and labels, or if another metric has the same name.
   * @param family the shown family with the name of the metric, if any
   */
  #reserve({ metadata, hash }: RowSeries, family: Family | undefined, former?: number): boolean {
    const isShowable =
      family === undefined
        ? this.#owners.refusalOf(metadata) === ''
        : family.metadata.type === metadata.type;
    return isShowable && (hash === former || this.#hashes.add(hash));
  }

  /** Keeps a clashing series. Counts the clash, unless it replaces a clashing series with the same name and labels. */
  #addClash(next: RowSeries): void {
    const { metadata, key, line, hash } = next;
    this.#uncountOmitted(metadata.name, key);
    this.#context.budget.spend(costOf(line));
    if (this.#clashing.at(metadata.name, key)?.hash !== hash) {
      this.#context.counters.clashes++;
      this.#context.onClash(seriesOf(metadata.name, line), this.clashOf(metadata));
    }
    this.#clashing.put(next);
  }

  /** Shows the series that could not be shown because of a removed series or its metric. */
  #showClashing(gone: FamilyMetadata, hash: number): void {
    const isLast = !this.isShown(gone.name);
    if (isLast) this.#owners.delete(gone);
    const free = isLast ? [hash, ...unsharedNames(gone)] : [hash];
    for (const next of this.#clashing.waitingFor(free)) {
      const { name } = next.metadata;
      const family = this.#context.text.family(name);
      if (!this.#reserve(next, family)) continue;
      this.#clashing.delete(name, next.key);
      this.#show(next, family);
    }
  }

  #positionOf(row: Row): RowPosition {
    return this.#positions.get(row) ?? { familyIndex: this.#familyIndexOf(row), firstSeries: 0 };
  }

  #familyIndexOf({ family }: Row): number {
    return this.#familyIndexes.get(family.name) ?? this.#familyIndexes.size;
  }
}

const omittedKey = (name: string, { seriesIndex }: LineKey): string => `${seriesIndex} ${name}`;

/** Name and labels. */
const seriesOf = (name: string, line: Line): string =>
  name + line.suffix + labelsOf(line).trimEnd();

const isOne = (shown: readonly Series[] | ValueReference): shown is ValueReference =>
  'address' in shown;

const referenceLine = (labels: StoredText, { address, opcode }: ValueReference): Line => ({
  suffix: '',
  labels,
  constant: '',
  cell: address,
  opcode,
});

function lineOf(
  labels: StoredText,
  { suffix = '', labels: own, value }: Series,
  targetLabels: TargetLabels,
): Line {
  const all =
    own === undefined
      ? labels
      : labelsPart(
          joinLabels(labelsIn(labels.text), targetLabels.beside(labelsText(written(own)))),
        );
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
