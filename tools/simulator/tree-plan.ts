// Plans the tree of a simulated application from the rows of its catalogue.
import type { Catalogue } from '#app/catalogue/catalogue.js';
import type { CatalogueClass } from '#app/catalogue/catalogue-class.js';
import type { PathPattern } from '#app/catalogue/match/patterns.js';
import type { RowInput, Row } from '#app/catalogue/row.js';
import type { ValueType } from '#app/model.js';
import { courseOf } from './course.js';
import type { Course } from './course.js';

/** Realistic values of labels. Labels that are not listed have numbers as values. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  transport: ['ripc', 'ws', 'rest', 'ipc'],
  service: ['ELEKTRON_DD', 'IDN_RDF', 'DELAYED_FEED', 'CONTRIB', 'FX_POLLED', 'BONDS'],
  route: ['localroute', 'route1', 'route2'],
  container: ['EQUITIES', 'FUTURES', 'FOREX', 'RATES'],
  model: ['SPREAD', 'VWAP', 'MID', 'BASKET'],
};

/** The texts of variables, by name. The instances use the texts in turn. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  version: ['3.8.0.L1'],
  releaseVersion: ['3.8.0.L1.linux'],
  RTSDKVersion: ['2.1.3.L1'],
  systemRelease: ['5.14.0-427.el9.x86_64'],
  time: ['Mon Jan  5 08:00:00 2026'],
  hostname: ['desk-01', 'desk-02', 'algo-01', 'risk-01', 'web-01'],
  IPAddress: ['192.0.2.11', '192.0.2.12', '192.0.2.21', '192.0.2.31', '192.0.2.41'],
  connectType: ['RSSL'],
  loginName: ['alice', 'bob', 'carol', 'dave', 'svc-risk'],
  position: ['192.0.2.11/desk-01', '192.0.2.12/desk-02', '192.0.2.21/algo-01'],
  applicationName: ['256'],
  appName: ['feed-a', 'feed-b'],
  dataType: ['MARKET_PRICE', 'MARKET_BY_ORDER'],
  cacheType: ['SOURCE'],
};

/** The labels of objects that come and go while an application runs. */
const TRANSIENT = new Set(['session', 'mount', 'user', 'channel']);

/** The text of `variable` in the `n`th instance. */
const textOf = (variable: string, n: number): string => {
  const texts = TEXTS[variable] ?? [];
  return texts[n % Math.max(1, texts.length)] ?? `${variable}-${n + 1}`;
};

/** The path, below the root, of the `n`th instance that matches a pattern. */
function pathFor(pattern: PathPattern, n: number): string {
  return pattern.segments
    .map(({ literal, label = '', matches }, depth) => {
      if (literal !== undefined) return literal;
      const names = NAMES[label] ?? [];
      const number = String(n + 1);
      const candidates = [names[n % Math.max(1, names.length)], number, `${label}${number}`];
      return candidates.find((each) => each !== undefined && matches(each)) ?? `${label}${depth}`;
    })
    .join('.');
}

export interface PlannedVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly course: Course;
  readonly schema: readonly number[];
}

export interface PlannedObject {
  /** The path below the root; empty for the root. */
  readonly seedPath: string;
  readonly className: string;
  readonly variables: readonly PlannedVariable[];
}

/** An instance of a class, with its children. All its objects are added and removed together. */
export interface PlannedInstance {
  readonly objects: readonly PlannedObject[];
  readonly isTransient: boolean;
}

/**
 * Plans a tree of about `objects` objects. All classes with labels in their paths get the same number of instances,
 * unless `mostOf` allows fewer.
 */
export function planTree(catalogue: Catalogue, objects: number): readonly PlannedInstance[] {
  const single = catalogue.classes.filter(({ paths }) => paths[0]?.labelNames.length === 0);
  const many = catalogue.classes.filter(({ paths }) => (paths[0]?.labelNames.length ?? 0) > 0);
  const fixed = single.map((each) => instanceOf(each, 0));
  const used = fixed.reduce((sum, each) => sum + each.objects.length, 0);
  const kinds = many.map((owner): PlannedKind => {
    return { owner, size: instanceOf(owner, 0).objects.length, most: mostOf(owner) };
  });
  const perClass = instancesFor(kinds, objects - used);
  const repeated = kinds.flatMap(({ owner, most }) =>
    Array.from({ length: Math.min(perClass, most) }, (_, n) => instanceOf(owner, n)),
  );
  return [...fixed, ...repeated];
}

/** A class, the number of objects per instance, and the maximum number of instances. */
interface PlannedKind {
  readonly owner: CatalogueClass;
  readonly size: number;
  readonly most: number;
}

/** The maximum number of instances of a class. The labels in `NAMES` have only a limited number of values. */
function mostOf({ paths }: CatalogueClass): number {
  const labels = paths[0]?.labelNames ?? [];
  if (TRANSIENT.has(labels.at(-1) ?? '')) return Infinity;
  return Math.max(1, ...labels.map((label) => NAMES[label]?.length ?? Infinity));
}

/** The number of instances of each class, chosen so that all classes together have about `objects` objects. */
function instancesFor(kinds: readonly PlannedKind[], objects: number): number {
  let instances = 0;
  let left = objects;
  for (;;) {
    const round = kinds.reduce((sum, { size, most }) => sum + (most > instances ? size : 0), 0);
    // A round adds one instance of each class. Add a last round only if at least half of its objects are still
    // missing.
    if (round === 0 || left < round / 2) return Math.max(1, instances);
    left -= round;
    instances++;
  }
}

/** The `n`th instance of a class. */
function instanceOf(owner: CatalogueClass, n: number): PlannedInstance {
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
  return { objects, isTransient: TRANSIENT.has(pattern?.segments.at(-1)?.label ?? '') };
}

function variablesOf(rows: readonly Row[], n: number): readonly PlannedVariable[] {
  const byName = new Map<string, PlannedVariable>();
  for (const row of rows)
    for (const input of row.inputs) {
      const planned = variableFor(row, input, n);
      if (!byName.has(planned.name)) byName.set(planned.name, planned);
    }
  return [...byName.values()];
}

function variableFor(row: Row, input: RowInput, n: number): PlannedVariable {
  const name = nameOf(input);
  const [type = 'i64'] = input.types;
  if (type === 'histogram' || type === 'summary') {
    const course = { kind: 'distribution' } as const;
    return { name, type: 'histogram', course, schema: [1, 10, 100] };
  }
  if (type !== 'string') return { name, type, course: courseOf(row.family, input), schema: [] };
  const text = input.texts?.[0] ?? textOf(name, n);
  return { name, type, course: { kind: 'fixed', text }, schema: [] };
}

const nameOf = ({ variable, pattern }: RowInput): string =>
  pattern === undefined ? variable : variable.replace(/\{[^}]*\}/, '14002');

/** The plan, with the process id and start time as constant variables of its root. */
export function withRunFacts(
  plan: readonly PlannedInstance[],
  pid: number,
  startedAt: Date,
): readonly PlannedInstance[] {
  const variables: readonly PlannedVariable[] = [
    { name: 'processID', type: 'i64', course: { kind: 'constant', value: pid }, schema: [] },
    {
      name: 'time',
      type: 'string',
      course: { kind: 'fixed', text: startText(startedAt) },
      schema: [],
    },
  ];
  const names = variables.map(({ name }) => name);
  const roots = plan.flatMap(({ objects }) => objects).filter(({ seedPath }) => seedPath === '');
  const root = { seedPath: '', className: roots[0]?.className ?? 'Process', variables };
  const others = plan.map((instance) => ({
    ...instance,
    objects: instance.objects.map((object) =>
      object.seedPath === ''
        ? { ...object, variables: object.variables.filter(({ name }) => !names.includes(name)) }
        : object,
    ),
  }));
  return [{ objects: [root], isTransient: false }, ...others];
}

/** A UTC time in the format of asctime(3), such as `Mon Jan  5 08:00:00 2026`. */
function startText(at: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = at.toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}
