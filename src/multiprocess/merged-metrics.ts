// The metrics of a directory: finds the numbers to which the entries of its files belong, as the libraries merge them.
import type { Dialect, EntryKey } from './entry-key.js';
import { GAUGE_MODES, rubyIdOf } from './file-name.js';
import type { FileKind, FileName } from './file-name.js';
import type { NumberRule } from './folded-number.js';
import { labelsTextOf } from './key-table.js';
import type { SharedKey } from './key-table.js';
import { HistogramSeries, MAX_BOUNDS, NumberSeries, SummarySeries } from './merged-series.js';
import type {
  Family,
  MergedSeries,
  SeriesFacts,
  SeriesGroup,
  SeriesNumber,
  SeriesPart,
  SeriesPlace,
} from './merged-series.js';

/** How a gauge is merged, by its mode. */
const GAUGE_RULES: Readonly<Record<string, NumberRule>> = {
  all: 'last',
  min: 'min',
  max: 'max',
  sum: 'sum',
  mostrecent: 'latest',
};

const PID = 'pid';

/** Whether only live processes have the gauges of a file. */
export const isLive = (kind: FileKind): boolean => kind.startsWith('gauge_live');

/** Whether the values of a file only grow, so that those of a removed file stay in the sums. */
export const isCounted = (kind: FileKind): boolean => !kind.startsWith('gauge_');

/** The maximum number of series, and of metrics, whose reason for being left out is kept. */
const MAX_REASONS = 1024;

/** The budget steps for showing a series. */
const SHOW_STEPS = 4;
/** A budget step covers this many series at the beginning of a fold. */
const BEGUN_A_STEP = 16;

/** The numbers of series and entries that all directories of a target may still add. */
export interface Limits {
  series: number;
  entries: number;
}

/** A file whose values are inputs of numbers. */
export interface InputFile {
  readonly name: FileName;
  /** Folds the values into those of their numbers that have changed. A step returns the work that it did. */
  folding(): Generator<number, void>;
}

export class MergedMetrics {
  readonly #place: SeriesPlace;
  readonly #limits: Limits;
  /** The label of the directory, whose name no label of a series may have; empty for none. */
  readonly #label: string;
  readonly #families = new Map<string, Family>();
  /** The series to show again. */
  readonly #changed = new Set<MergedSeries>();
  /** The reasons why series with invalid values are left out. */
  readonly #invalid = new Map<MergedSeries, string>();
  /** The families with more than one group. */
  readonly #clashing = new Set<Family>();
  /** The families whose groups may have lost their last entry. */
  readonly #unsettled = new Set<Family>();

  constructor(place: SeriesPlace, limits: Limits, label: string) {
    this.#place = place;
    this.#limits = limits;
    this.#label = label;
  }

  /** The reasons why series are left out, one sentence each. */
  *refusals(): Generator<string> {
    for (const [{ facts }, reason] of this.#invalid) yield `${facts.name} ${reason}`;
    for (const { name, groups } of this.#clashing) {
      const [first, ...others] = groups;
      if (first === undefined) continue;
      for (const other of others)
        yield `metric ${name} of ${named(other)} clashes with that of ${named(first)}`;
    }
  }

  /**
   * The number to which an entry belongs. Returns the reason if there is none, and undefined for an entry that is not
   * needed.
   */
  numberOf(file: FileName, key: SharedKey): SeriesNumber | string | undefined {
    const { parsed } = key;
    if (typeof parsed === 'string') return parsed;
    const place = placeOf(file, key, parsed);
    if (place === undefined) {
      const type = file.kind.replace(/_.*/, '');
      return `has the name ${parsed.sample}, which no ${type} named ${parsed.family} has`;
    }
    // The bucket of +Inf, which has the same count, is shown instead.
    if (file.kind === 'histogram' && place.part === 'count') return undefined;
    const name = place.metric + place.labelsText;
    const known = this.#groupOf(file.kind, parsed);
    let series = known?.series.get(name);
    if (series === undefined) {
      if (this.#limits.series <= 0) return 'would exceed segment_max_items';
      this.#limits.series--;
      const group = known ?? this.#addGroup(file.kind, parsed);
      const { metric } = place;
      const labels = this.#label in place.labels ? this.#renamed(place.labels) : place.labels;
      series = newSeries({ group, name, metric, labels }, this.#place);
      group.series.set(name, series);
    }
    return series.number(place.part) ?? `would exceed ${MAX_BOUNDS} buckets of its histogram`;
  }

  /** Adds an entry to its number. No other entry of the file may belong to it. */
  add(number: SeriesNumber): void {
    number.add();
    const { group } = number.owner.facts;
    if (group.inputs++ === 0) this.#unsettled.add(group.family);
    this.change(number.owner);
  }

  /** Removes an entry from its number. @param isKept whether its value stays in the sum */
  remove(number: SeriesNumber, value: number, isKept: boolean): void {
    number.remove(value, isKept);
    const { group } = number.owner.facts;
    if (--group.inputs === 0) this.#unsettled.add(group.family);
    this.change(number.owner);
  }

  /** Shows a series again, after one of its numbers has changed. */
  change(series: MergedSeries): void {
    this.#changed.add(series);
  }

  /** Removes all series, one in each step. A step returns the work that it did. */
  *closing(): Generator<number, void> {
    for (const { groups } of this.#families.values())
      for (const group of groups)
        for (const series of group.series.values()) {
          series.hide();
          this.#limits.series++;
          yield 1;
        }
    this.#families.clear();
    this.#changed.clear();
    this.#unsettled.clear();
  }

  /**
   * Shows the changed series. A step returns the work that it did.
   * @param files all files, in the order in which their values are folded
   */
  *showing(files: readonly InputFile[]): Generator<number, void> {
    for (const family of this.#unsettled) {
      this.#unsettled.delete(family);
      yield* this.#settling(family);
    }
    // `#show` may add series: when a group loses its last one, the next group of its family is shown.
    while (this.#changed.size > 0)
      for (const series of yield* this.#folding(files)) {
        this.#changed.delete(series);
        this.#show(series);
        yield SHOW_STEPS;
      }
  }

  /** Folds the numbers of the changed series. Returns these series. */
  *#folding(files: readonly InputFile[]): Generator<number, readonly MergedSeries[]> {
    const changed: MergedSeries[] = [];
    const kinds = new Set<FileKind>();
    for (const series of this.#changed) {
      series.beginFold();
      kinds.add(series.facts.group.kind);
      if (changed.push(series) % BEGUN_A_STEP === 0) yield 1;
    }
    for (const file of files) if (kinds.has(file.name.kind)) yield* file.folding();
    return changed;
  }

  /** Forgets groups that have only sums of removed files, once another group has files. The metric has a new type. */
  *#settling({ groups }: Family): Generator<number, void> {
    if (groups.length < 2 || groups.every(({ inputs }) => inputs === 0)) return;
    for (const group of groups.filter(({ inputs }) => inputs === 0))
      for (const series of group.series.values()) {
        series.hide();
        this.#forget(series);
        yield 1;
      }
  }

  #show(series: MergedSeries): void {
    const { name, group } = series.facts;
    if (group.series.get(name) !== series) return; // it was forgotten
    this.#invalid.delete(series);
    if (series.isEmpty) {
      series.hide();
      this.#forget(series);
      return;
    }
    const isShown = group.family.groups[0] === group;
    const fault = isShown ? series.show() : undefined;
    if (!isShown) series.hide();
    if (fault !== undefined && this.#invalid.size < MAX_REASONS) this.#invalid.set(series, fault);
  }

  /** Removes a series without inputs. The group after the first one is shown once the first one has no series. */
  #forget(series: MergedSeries): void {
    const { name, group } = series.facts;
    const { family } = group;
    this.#invalid.delete(series);
    group.series.delete(name);
    this.#limits.series++;
    if (group.series.size > 0) return;
    const wasShown = family.groups[0] === group;
    family.groups.splice(family.groups.indexOf(group), 1);
    if (family.groups.length < 2) this.#clashing.delete(family);
    const [next] = family.groups;
    if (next === undefined) this.#families.delete(family.name);
    else if (wasShown) for (const each of next.series.values()) this.#changed.add(each);
  }

  #groupOf(kind: FileKind, { family, dialect }: EntryKey): SeriesGroup | undefined {
    const groups = this.#families.get(family)?.groups ?? [];
    return groups.find((each) => each.kind === kind && each.dialect === dialect);
  }

  #addGroup(kind: FileKind, { family: name, dialect, help }: EntryKey): SeriesGroup {
    const family = this.#families.get(name) ?? { name, groups: [] };
    this.#families.set(name, family);
    const series = new Map<string, MergedSeries>();
    const group = { kind, dialect, help, family, series, inputs: 0 };
    family.groups.push(group);
    if (family.groups.length > 1 && this.#clashing.size < MAX_REASONS) this.#clashing.add(family);
    return group;
  }

  /** Renames the label that the directory has, as Prometheus does. */
  #renamed(labels: EntryKey['labels']): EntryKey['labels'] {
    let free = `exported_${this.#label}`;
    while (free in labels) free = `exported_${free}`;
    const entries = Object.entries(labels);
    return Object.fromEntries(
      entries.map(([name, value]) => [name === this.#label ? free : name, value]),
    );
  }
}

/** The series of an entry, and the number of the series. */
interface EntryPlace {
  readonly metric: string;
  readonly labels: EntryKey['labels'];
  readonly labelsText: string;
  readonly part: SeriesPart;
}

/** The place of an entry; undefined if the libraries write no such entry into this kind of file. */
function placeOf(
  file: FileName,
  key: SharedKey,
  { family, sample, labels, dialect }: EntryKey,
): EntryPlace | undefined {
  const { bucket, labelsText } = key;
  const suffix = sample.startsWith(family) ? sample.slice(family.length) : undefined;
  const place = (part: SeriesPart, metric = family): EntryPlace => ({
    ...{ metric, labels, labelsText, part },
  });
  switch (file.kind) {
    case 'counter':
      return suffix === '' || suffix === '_total' ? place('value', sample) : undefined;
    case 'summary':
      if (suffix === '_count') return place('count');
      return suffix === '_sum' ? place('sum') : undefined;
    case 'histogram':
      if (suffix === '_bucket' && bucket !== undefined)
        return { metric: family, part: bucket, ...bucket };
      if (suffix === '_count' && dialect === 'ruby') return place('count');
      return suffix === '_sum' ? place('sum') : undefined;
    default:
      return suffix === ''
        ? { metric: sample, part: 'value', ...gaugeLabels(file, key, dialect) }
        : undefined;
  }
}

/** The labels of a gauge, with `pid` if each process has a series of its own. */
function gaugeLabels(
  { kind, id }: FileName,
  { gauge }: SharedKey,
  dialect: Dialect,
): Pick<EntryPlace, 'labels' | 'labelsText'> {
  if (gaugeRule(kind) !== 'last') return gauge;
  const labels = { ...gauge.labels, [PID]: dialect === 'ruby' ? rubyIdOf(id) : id };
  return { labels, labelsText: labelsTextOf(labels) };
}

/** The rules by kind of file, since each entry needs one. */
const RULES = new Map<FileKind, NumberRule>(
  GAUGE_MODES.map((mode) => [`gauge_${mode}`, GAUGE_RULES[mode.replace(/^live/, '')] ?? 'last']),
);

const gaugeRule = (kind: FileKind): NumberRule => RULES.get(kind) ?? 'last';

function newSeries(facts: SeriesFacts, place: SeriesPlace): MergedSeries {
  const { kind, dialect } = facts.group;
  if (kind === 'counter') return new NumberSeries(facts, place, 'counter', 'count');
  if (kind === 'summary') return new SummarySeries(facts, place);
  if (kind === 'histogram') return new HistogramSeries(facts, place, dialect === 'ruby');
  return new NumberSeries(facts, place, 'gauge', gaugeRule(kind));
}

/** The kind of a group, for messages. */
const named = ({ kind, dialect }: SeriesGroup): string =>
  `${kind.replace('_', ' ')} files of ${dialect}`;
