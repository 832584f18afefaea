// Metric names of prometheus_varnish_exporter 1.6, so that its dashboards and alerts keep working.
import { metricNamePart } from '../../catalogue/names.js';
import type { DeclaredMetric, VariableKind } from '../../model.js';
import type { SchemaField } from '../schema.js';

/** Matches the ident of a backend that contains a server id. */
const SERVER_ID =
  /(?<server>[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[89ab][0-9a-z]{3}-[0-9a-z]{12})(?<backend>.*)$/;
const ADDRESS = /^(?<backend>.*)\((?<server>.*)\)/;

/**
 * The labels of a backend, from its ident in lower case, such as `boot.origin`. Strips the name of the current VCL
 * program, so that a backend keeps its series across a reload.
 */
function backendLabels(ident: string): Record<string, string> {
  const { backend, server } = (SERVER_ID.exec(ident) ?? ADDRESS.exec(ident))?.groups ?? {};
  if (backend === undefined || server === undefined)
    return { backend: withoutProgram(ident), server: 'unknown' };
  return { backend: withoutProgram(backend), server: server.replace(',,', ':') };
}

const withoutProgram = (name: string): string =>
  name
    .replace(/^\.+|\.+$/g, '')
    .replace(/^boot\./, '')
    .replace(/^root:/, '')
    .replace(/^reload_[^.]*\./, '');

/** A value, with the segment and the class that it belongs to. */
export interface Point {
  /** The name of the segment, such as `VBE.boot.origin`. */
  readonly ident: string;
  /** The name of the schema that describes the segment, such as `vbe`. */
  readonly className: string;
  readonly field: Pick<SchemaField, 'name' | 'kind' | 'unit' | 'help'>;
}

export interface NamedPoint {
  readonly metric: DeclaredMetric;
  readonly kind: VariableKind;
}

/** Metrics that the exporter adds to the metrics of Varnish. */
interface OwnPoints {
  readonly up: DeclaredMetric;
  /** The start times of manager and child; undefined if the naming scheme has no such metrics. */
  readonly managerStart: DeclaredMetric | undefined;
  readonly childStart: DeclaredMetric | undefined;
  /** The result of the last probe of a backend. */
  readonly backendUp: (ident: string) => DeclaredMetric;
}

/** A naming scheme. Its functions are pure: the name of a value does not depend on other values. */
export interface Naming {
  /** Returns the same key for two segments whose metrics would be the same series. */
  readonly keyOf: (ident: string) => string;
  readonly named: (point: Point) => NamedPoint;
  readonly own: OwnPoints;
}

/** For each first part of an ident, the prefix of metric names. All other idents get the prefix of MAIN. */
const GROUPS: Readonly<Record<string, string>> = {
  main: 'main',
  mgt: 'mgt',
  vbe: 'backend',
  lck: 'lck',
  sma: 'sma',
  smf: 'smf',
  mempool: 'mempool',
};
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['lck_colls', 'lock_collisions'],
  ['lck_creat', 'lock_created'],
  ['lck_destroy', 'lock_destroyed'],
  ['lck_locks', 'lock_operations'],
]);
/**
 * Values that share a metric. The last words of a value's name become a label. `total` names the value that is their
 * sum.
 */
const MERGED = [
  { prefix: 'main_fetch', total: 'main_s_fetch', name: 'main_fetch', help: 'Number of fetches' },
  { prefix: 'main_sess', total: 'main_s_sess', name: 'main_sessions', help: 'Number of sessions' },
  {
    ...{ prefix: 'main_n_wrk', total: 'main_n_wrk', name: 'main_worker_threads' },
    help: 'Number of worker threads',
  },
];
const NONE = {};

/** Splits an ident, in lower case, into the prefix of its group and the part that is unique in the group. */
function partsOf(ident: string): { readonly group: string | undefined; readonly id: string } {
  const small = ident.toLowerCase();
  const dot = small.indexOf('.');
  const first = dot < 0 ? small : small.slice(0, dot);
  const group = Object.hasOwn(GROUPS, first) ? GROUPS[first] : undefined;
  // If the group is unknown, the whole ident becomes the label. It also becomes part of the metric's name.
  const id = group === undefined ? small : small.slice(dot + 1);
  return { group, id: dot < 0 ? '' : id };
}

function compatName({ ident, field }: Point): NamedPoint {
  const { group, id } = partsOf(ident);
  const own = field.name.toLowerCase();
  const plain =
    group === undefined ? `main_${metricNamePart(`${ident}.${own}`)}` : `${group}_${own}`;
  const name = RENAMED.get(plain) ?? plain;
  const kind = field.kind === 'counter' ? 'counter' : 'gauge';
  const labels = id === '' ? NONE : labelsOf(group, name, id);
  const metric = merged(name, labels) ?? { name: `varnish_${name}`, help: field.help, labels };
  return { kind, metric };
}

function labelsOf(group: string | undefined, name: string, id: string): Record<string, string> {
  if (group === 'backend') return backendLabels(id);
  if (name.startsWith('lock_')) return { target: id };
  return group === 'sma' || group === 'smf' ? { type: id } : { id };
}

function merged(name: string, labels: Readonly<Record<string, string>>) {
  for (const { prefix, total, name: shown, help } of MERGED) {
    if (name === total) return { name: `varnish_${shown}_total`, help, labels };
    const type = name.slice(prefix.length + 1);
    if (name.startsWith(`${prefix}_`) && type !== '')
      return { name: `varnish_${shown}`, help, labels: { ...labels, type } };
  }
  return undefined;
}

export const COMPAT_NAMES: Naming = {
  keyOf: (ident) => {
    const { group, id } = partsOf(ident);
    if (group !== 'backend' || id === '') return `${group ?? ''} ${id === '' ? ident : id}`;
    const { backend = '', server = '' } = backendLabels(id);
    return `backend ${backend} ${server}`;
  },
  named: compatName,
  own: {
    up: {
      name: 'varnish_up',
      help: 'Whether Varnish runs; always 1, since the target has no metrics while Varnish does not run.',
      labels: NONE,
    },
    managerStart: undefined,
    childStart: undefined,
    backendUp: (ident) => ({
      name: 'varnish_backend_up',
      help: 'Whether the last health probe of the backend was good.',
      labels: backendLabels(partsOf(ident).id),
    }),
  },
};
