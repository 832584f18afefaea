// Rows and labels of variables without a catalogue row, made from the publisher's declarations.
import { distributionRow } from '../../catalogue/kinds/distribution.js';
import { infoRow } from '../../catalogue/kinds/info.js';
import { scalarRow } from '../../catalogue/kinds/scalar.js';
import type { LabelValues } from '../../catalogue/match/patterns.js';
import type { ClassRows } from '../../catalogue/match/row-index.js';
import { declaredName, metricNamePart, namesTaken } from '../../catalogue/names.js';
import type { DeclaredNameParts } from '../../catalogue/names.js';
import { UNCHANGED } from '../../catalogue/row.js';
import type { Row } from '../../catalogue/row.js';
import type {
  Declaration,
  FamilyMetadata,
  MetricType,
  DeclaredMetric,
  ValueType,
  Variable,
  VariableKind,
} from '../../model.js';
import { VALUE_TYPES, isFramed } from '../../published.js';
import { labelsText } from '../text/text-syntax.js';
import type { ViewContext } from '../view-context.js';
import { ObjectLabels, withDeclared } from './labels.js';

/** The prefix of all metrics of an application without a catalogue. */
export const metricPrefix = (app: string): string => `${metricNamePart(app)}_`;

/** The maximum number of cached families. Further families are created again at each use. */
const MAX_CACHED = 20_000;

/**
 * The maximum number of declarations with a cached row. A full cache is cleared, which also drops declarations of
 * former publishers.
 */
const MAX_DECLARATIONS = 4096;

/** The maximum number of characters of a publisher's help text that are shown. */
const MAX_HELP = 512;
/** The same for a help text that the format states, which pages must show as the format's own library does. */
const MAX_STATED_HELP = 8192;
/** The maximum number of characters of a unit in a help text. */
const MAX_UNIT = 64;

const BASE = { labels: {}, at: '', classId: undefined, isPersonal: false, where: '' };

/** The word that is appended to a name if a metric of the catalogue has that name. */
const MARK = ' uncatalogued';
const NONE: ReadonlySet<string> = new Set();

/** The row of a declaration, and the other facts that the row depends on. */
interface CachedRow {
  readonly className: string;
  readonly declared: DeclaredMetric | undefined;
  readonly row: Row;
}

/** Makes one row per variable. Variables with the same name and class share a family. */
export class DeclaredRows {
  readonly #app: string;
  readonly #taken: ReadonlySet<string>;
  readonly #isShown: (name: string) => boolean;
  readonly #families = new Map<string, FamilyMetadata>();
  /** The last result for each declaration: the objects of a class share declarations. */
  #byDeclaration = new Map<Declaration, CachedRow>();

  /**
   * @param taken names of metrics and series that a catalogue owns
   * @param isShown whether a metric of this name has series; the help text of such a metric does not change
   */
  constructor(app: string, taken = NONE, isShown: (name: string) => boolean = () => true) {
    this.#app = app;
    this.#taken = taken;
    this.#isShown = isShown;
  }

  /** The metric that the format of a variable states, unless a metric of the catalogue has the same name. */
  declaredMetric({
    declaration: { metric, type, unit, kind },
  }: Variable): DeclaredMetric | undefined {
    if (metric === undefined || this.#taken.size === 0) return metric;
    const metadata = { ...metric, unit, type: metricTypeOf(type, kind) };
    return namesTaken(metadata).some((each) => this.#taken.has(each)) ? undefined : metric;
  }

  /** @param declared the metric to use; without it, class and variable determine the metric's name */
  rowFor(variable: Variable, declared?: DeclaredMetric): Row {
    const { declaration, object } = variable;
    const { className } = object;
    const known = this.#byDeclaration.get(declaration);
    if (known?.className === className && known.declared === declared) return known.row;
    const row = this.#makeRow(variable, declared);
    if (this.#byDeclaration.size >= MAX_DECLARATIONS) this.#byDeclaration = new Map();
    this.#byDeclaration.set(declaration, { className, declared, row });
    return row;
  }

  #makeRow(variable: Variable, declared: DeclaredMetric | undefined): Row {
    const { type, kind, name } = variable;
    const family = this.#family(variable, metricTypeOf(type, kind), declared);
    const conversion = UNCHANGED;
    if (type === 'string') return infoRow({ ...BASE, family }, [['value', name]]);
    if (type === 'histogram' || type === 'summary')
      return distributionRow({ ...BASE, family }, name, conversion);
    return scalarRow({ ...BASE, family }, { variable: name, conversion, wrap32: false });
  }

  #family(
    variable: Variable,
    type: MetricType,
    declared: DeclaredMetric | undefined,
  ): FamilyMetadata {
    const { className } = variable.object;
    const { name: own, unit } = variable;
    const parts = { app: this.#app, className, variable: own, unit, type };
    const name = declared?.name ?? this.#nameOf(parts);
    const known = this.#families.get(name);
    if (known?.type === type && this.#isValid(known, variable, declared)) return known;
    const family = { name, type, unit, help: helpOf(name, variable, declared) };
    const isKept = known === undefined ? this.#families.size < MAX_CACHED : !this.#isShown(name);
    if (isKept) this.#families.set(name, family);
    return family;
  }

  /** Whether a cached family can still be used: its help text is up to date, or its metric is shown already. */
  #isValid({ name, help }: FamilyMetadata, variable: Variable, declared?: DeclaredMetric): boolean {
    return help === helpOf(name, variable, declared) || this.#isShown(name);
  }

  /** A metric name that depends only on the catalogue and on these parts, not on other published variables. */
  #nameOf(parts: DeclaredNameParts): string {
    const { type, unit } = parts;
    const name = declaredName(parts);
    const isTaken = namesTaken({ name, type, unit, help: '' }).some((each) =>
      this.#taken.has(each),
    );
    return isTaken ? this.#nameOf({ ...parts, variable: parts.variable + MARK }) : name;
  }
}

/**
 * Returns the help text of a metric: the help that the format states for the metric, or else the help of the
 * variable. In the second case, the variable's unit follows, unless the metric's name contains the unit.
 */
function helpOf(
  metricName: string,
  { name, help, object, unit }: Variable,
  declared: DeclaredMetric | undefined,
): string {
  if (declared !== undefined) return declared.help.slice(0, MAX_STATED_HELP);
  const text =
    help === ''
      ? `Variable ${name} of objects of class ${object.className}.`
      : help.slice(0, MAX_HELP);
  const shown = unit.trim().slice(0, MAX_UNIT);
  if (shown === '' || hasUnit(metricName, unit)) return text;
  return `${text}${/[.!?]$/.test(text) ? '' : '.'} Unit: ${shown}.`;
}

/** Whether the words of a metric's name include the words of a unit. */
function hasUnit(metricName: string, unit: string): boolean {
  const words = metricNamePart(unit);
  return words !== '' && `_${metricName}_`.includes(`_${words}_`);
}

function metricTypeOf(type: ValueType, kind: VariableKind): MetricType {
  return isFramed(type) || kind === 'unknown' ? VALUE_TYPES[type].metricType : kind;
}

/** Rows and labels for those variables of an object that no catalogue row reads. */
export class DeclaredObject {
  readonly #rows: DeclaredRows;
  readonly #context: Pick<ViewContext, 'kernel' | 'targetLabels' | 'pathLabels'>;
  readonly #seedPath: string;
  readonly #formatLabels: LabelValues | undefined;
  readonly #excluded: readonly ClassRows[];
  /** Made only when a variable needs them: catalogue rows may read all variables of an object. */
  #labels: ObjectLabels | undefined;
  /** The labels of metrics that the format declares. Each metric has labels of its own. */
  #declared: ObjectLabels | undefined;

  /**
   * @param formatLabels the labels that the format states
   * @param excluded rows of classes that the filters exclude; variables that these rows read are not shown
   */
  constructor(
    rows: DeclaredRows,
    context: Pick<ViewContext, 'kernel' | 'targetLabels' | 'pathLabels'>,
    seedPath: string,
    formatLabels: LabelValues | undefined,
    excluded: readonly ClassRows[],
  ) {
    this.#rows = rows;
    this.#context = context;
    this.#seedPath = seedPath;
    this.#formatLabels = formatLabels;
    this.#excluded = excluded;
  }

  /** The row of a variable and its labels; undefined if a row of an excluded class reads the variable. */
  rowOf(variable: Variable): { row: Row; labels: ObjectLabels; own: string } | undefined {
    if (this.#excluded.some((rows) => rows.matchesOf(variable.name).length > 0)) return undefined;
    const metric = this.#rows.declaredMetric(variable);
    const row = this.#rows.rowFor(variable, metric);
    if (metric === undefined) {
      this.#labels ??= new ObjectLabels(this.#context, this.#text);
      return { row, labels: this.#labels, own: '' };
    }
    this.#declared ??= new ObjectLabels(this.#context, '');
    return { row, labels: this.#declared, own: this.#textWith(metric) };
  }

  close(): void {
    this.#labels?.close();
    this.#declared?.close();
  }

  /**
   * The label `object` with the seed path or `@root`, the labels of `path_labels`, and the labels that the format
   * states.
   */
  get #text(): string {
    const object = this.#seedPath === '' ? '@root' : this.#seedPath;
    const labels = { object, ...this.#context.pathLabels(this.#seedPath) };
    return labelsText(withDeclared(labels, this.#formatLabels));
  }

  /**
   * The labels of a declared metric. They need no label `object`, since the labels that the format states distinguish
   * the series.
   */
  #textWith({ labels }: DeclaredMetric): string {
    const ofPath = this.#context.pathLabels(this.#seedPath);
    return labelsText({ ...ofPath, ...this.#formatLabels, ...labels });
  }
}
