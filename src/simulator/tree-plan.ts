// Which objects and variables a simulated application has: its catalogue, turned around.
import type { CatalogueClass } from '../catalogue/catalogue-class.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { PathPattern } from '../catalogue/path-pattern.js';
import type { Row } from '../catalogue/row.js';
import type { ValueType } from '../model.js';

/** How the value of a simulated variable moves. */
export type Course =
  | { readonly kind: 'total' }
  | { readonly kind: 'level'; readonly most: number }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'fixed'; readonly text: string }
  | { readonly kind: 'distribution' };

export interface PlannedVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly course: Course;
  readonly schema: readonly number[];
}

export interface PlannedObject {
  /** Below the root; empty for the root. */
  readonly seedPath: string;
  readonly className: string;
  readonly variables: readonly PlannedVariable[];
}

/** Objects that belong together: an instance of a class, with its children; it can come and go. */
export interface PlannedInstance {
  readonly objects: readonly PlannedObject[];
  readonly isTransient: boolean;
}

/** What labels are called in a lively installation; numbers where nothing fits better. */
const VOCABULARY: Readonly<Record<string, readonly string[]>> = {
  transport: ['ripc', 'ws', 'rest', 'ipc'],
  service: ['ELEKTRON_DD', 'IDN_RDF', 'DELAYED_FEED', 'CONTRIB', 'FX_POLLED', 'BONDS'],
  route: ['localroute', 'route1', 'route2'],
  container: ['EQUITIES', 'FUTURES', 'FOREX', 'RATES'],
  model: ['SPREAD', 'VWAP', 'MID', 'BASKET'],
};
/** What texts say, by the variable's name; instances take turns. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  version: ['3.8.0.L1'],
  releaseVersion: ['3.8.0.L1.linux'],
  RTSDKVersion: ['2.1.3.L1'],
  systemRelease: ['5.14.0-427.el9.x86_64'],
  hostname: ['desk-01', 'desk-02', 'algo-01', 'risk-01', 'web-01'],
  IPAddress: ['192.0.2.11', '192.0.2.12', '192.0.2.21', '192.0.2.31', '192.0.2.41'],
  connectType: ['RSSL'],
  loginName: ['alice', 'bob', 'carol', 'dave', 'svc-risk'],
  position: ['192.0.2.11/desk-01', '192.0.2.12/desk-02', '192.0.2.21/algo-01'],
  applicationName: ['256'],
  appName: ['feed-a', 'feed-b'],
};
/** Labels whose objects come and go while an application runs. */
const TRANSIENT = new Set(['session', 'mount', 'user', 'channel']);

/** The names of the `n`th instance that fit a pattern, one a label. */
function pathFor(pattern: PathPattern, n: number): string {
  return pattern.segments
    .map(({ literal, label = '', matches }, depth) => {
      if (literal !== undefined) return literal;
      const words = VOCABULARY[label] ?? [];
      const number = String(n + 1);
      const candidates = [words[n % Math.max(1, words.length)], number, `${label}${number}`];
      return candidates.find((each) => each !== undefined && matches(each)) ?? `${label}${depth}`;
    })
    .join('.');
}

/** Plans about `objects` objects for an application that has a catalogue. */
export function planTree(catalogue: Catalogue, objects: number): readonly PlannedInstance[] {
  const single = catalogue.classes.filter(({ paths }) => paths[0]?.labelNames.length === 0);
  const many = catalogue.classes.filter(({ paths }) => (paths[0]?.labelNames.length ?? 0) > 0);
  const fixed = single.map((each) => instanceOf(each, 0));
  const used = fixed.reduce((sum, each) => sum + each.objects.length, 0);
  const perClass = Math.max(1, Math.floor((objects - used) / Math.max(1, many.length * 2)));
  const repeated = many.flatMap((each) => {
    const labels = each.paths[0]?.labelNames ?? [];
    const most = Math.max(1, ...labels.map((label) => VOCABULARY[label]?.length ?? perClass));
    const last = labels.at(-1) ?? '';
    const count = TRANSIENT.has(last) ? perClass : Math.min(perClass, most);
    return Array.from({ length: count }, (_, n) => instanceOf(each, n));
  });
  return [...fixed, ...repeated];
}

/** The `n`th instance of a class. */
export function instanceOf(owner: CatalogueClass, n: number): PlannedInstance {
  const [pattern] = owner.paths;
  const top = pattern === undefined ? '' : pathFor(pattern, n);
  const places = new Map<string, { className: string; rows: Row[] }>();
  places.set('', { className: owner.classIds[0] ?? '', rows: [] });
  for (const row of owner.rows) {
    const place = places.get(row.at) ?? { className: row.classId ?? '', rows: [] };
    place.rows.push(row);
    places.set(row.at, place);
  }
  const objects = [...places].map(([at, { className, rows }]) => ({
    seedPath: [top, at].filter((part) => part !== '').join('.'),
    className,
    variables: variablesOf(rows, n),
  }));
  const last = pattern?.segments.at(-1)?.label ?? '';
  return { objects, isTransient: TRANSIENT.has(last) };
}

function variablesOf(rows: readonly Row[], n: number): readonly PlannedVariable[] {
  const byName = new Map<string, PlannedVariable>();
  const add = (name: string, type: ValueType, course: Course, schema: readonly number[] = []) => {
    if (!byName.has(name)) byName.set(name, { name, type, course, schema });
  };
  const total: Course = { kind: 'total' };
  for (const row of rows)
    switch (row.kind) {
      case 'scalar': {
        const name = row.pattern === undefined ? row.variable : patternName(row.variable);
        const isRatio = row.conversion.divide === 100;
        if (row.family.type === 'counter') add(name, 'u64', total);
        else add(name, 'i64', levelOf(row.family.help, name, isRatio));
        break;
      }
      case 'pair':
        add(row.sum, 'u64', total);
        add(row.count, 'u64', total);
        break;
      case 'info':
        for (const { variable } of row.labelsFrom)
          add(variable, 'string', { kind: 'fixed', text: textOf(variable, n) });
        break;
      case 'stateset':
        add(row.variable, 'string', { kind: 'fixed', text: row.states[0] ?? '' });
        break;
      case 'timestamp':
        add(row.variable, 'string', { kind: 'fixed', text: 'Thu Nov 19 08:00:00 2026' });
        break;
      case 'distribution':
        add(row.variable, 'histogram', { kind: 'distribution' }, [1, 10, 100]);
        break;
      case 'observed-histogram':
      case 'observed-summary':
        add(row.variable, 'i64', { kind: 'level', most: 5000 });
        break;
      case 'state':
        break;
    }
  return [...byName.values()];
}

/** Flags are down, process ids and limits stay, everything else wanders below the limits. */
function levelOf(help: string, variable: string, isRatio: boolean): Course {
  if (/^1 (when|while|if)/.test(help)) return { kind: 'constant', value: 0 };
  if (variable === 'processID') return { kind: 'constant', value: 4711 };
  if (/^max|Size$|Limit$|Capacity$/.test(variable)) return { kind: 'constant', value: 10_000 };
  return { kind: 'level', most: isRatio ? 100 : 1000 };
}

const textOf = (variable: string, n: number): string => {
  const texts = TEXTS[variable] ?? [];
  return texts[n % Math.max(1, texts.length)] ?? `${variable}-${n + 1}`;
};

const patternName = (pattern: string): string => pattern.replace(/\{[^}]*\}/, '14002');

/** A plain tree for an application without a catalogue: workers with all value types. */
export function planPlainTree(objects: number): readonly PlannedInstance[] {
  return Array.from({ length: Math.max(1, objects) }, (_, n) => ({
    isTransient: n > 0,
    objects: [
      {
        seedPath: n === 0 ? '' : `worker.${n}`,
        className: n === 0 ? 'Process' : 'Worker',
        variables: [
          { name: 'requests', type: 'u64', course: { kind: 'total' }, schema: [] },
          { name: 'queueLength', type: 'i64', course: { kind: 'level', most: 100 }, schema: [] },
          { name: 'load', type: 'f64', course: { kind: 'level', most: 1 }, schema: [] },
          { name: 'isBusy', type: 'bool', course: { kind: 'level', most: 1 }, schema: [] },
          { name: 'version', type: 'string', course: { kind: 'fixed', text: '1.0' }, schema: [] },
          {
            name: 'latency',
            type: 'histogram',
            course: { kind: 'distribution' },
            schema: [0.001, 0.01, 0.1, 1],
          },
          {
            name: 'size',
            type: 'summary',
            course: { kind: 'distribution' },
            schema: [0.5, 0.9, 0.99],
          },
        ],
      },
    ],
  }));
}
