// A published tree that changes: counters rise, gauges vary, clients come and go.
import type { ValueType, VariableKind } from '#app/model.js';
import type { PublishedValues } from '#app/native/publisher/published-values.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import type { PublishedObject, VariableOptions } from '#app/native/publisher/publisher-options.js';
import { isFramed } from '#app/published.js';
import { RandomWalk } from './course.js';
import type { Course, Random } from './course.js';
import type { PlannedInstance, PlannedObject, PlannedVariable } from './tree-plan.js';

/** The types of variable handles, with only the methods that a simulation needs. */
export type ValueHandles = {
  readonly [T in ValueType]: Omit<PublishedValues[T], 'frame' | 'unset'>;
};
export type ValueHandle = ValueHandles[ValueType];

/** The methods of a publisher that a simulation needs. The `Publisher` of a segment implements them. */
export interface ObjectPublisher extends Pick<
  Publisher,
  'addRoot' | 'addObject' | 'setState' | 'removeObject' | 'notify'
> {
  addVariable<T extends ValueType>(
    object: PublishedObject,
    name: string,
    type: T,
    options?: VariableOptions,
  ): ValueHandles[T];
  setSynced(object: PublishedObject): boolean;
  removeVariable(value: Pick<ValueHandle, 'ref'>): void;
}

/** Publishes the next value of a variable. */
type PublishNext = () => void;
type ScalarHandle = ValueHandles['u64'];
type Histogram = ValueHandles['histogram'];
type Summary = ValueHandles['summary'];

/** The average number of changes between two increments of a counter of mishaps. */
const CHANGES_PER_MISHAP = 20;

/** Publishes the first value. Returns the function for the next values; undefined if the variable never changes. */
function begin(
  handle: ValueHandle,
  { type, course }: PlannedVariable,
  random: Random,
): PublishNext | undefined {
  switch (course.kind) {
    case 'fixed':
      if (type === 'string') (handle as ValueHandles['string']).set(course.text);
      return undefined;
    case 'constant':
      (handle as ScalarHandle).set(course.value);
      return undefined;
    case 'distribution':
      return type === 'histogram'
        ? observe(handle as Histogram, random)
        : summarize(handle as Summary, random);
    case 'level':
      return wander(handle as ScalarHandle, course.most, type === 'f64' ? 0.001 : 1, random);
    default:
      return rise(handle as ScalarHandle, course, random);
  }
}

type Rising = Extract<Course, { kind: 'total' | 'mishaps' }>;

function rise(scalar: ScalarHandle, course: Rising, random: Random): PublishNext {
  if (course.kind === 'mishaps') {
    scalar.set(random.below(CHANGES_PER_MISHAP));
    return () => {
      if (random.below(CHANGES_PER_MISHAP) === 0) scalar.add(1);
    };
  }
  const { step } = course;
  scalar.set(step * (1000 + random.below(1000)));
  return () => void scalar.add(1 + random.below(step));
}

function wander(scalar: ScalarHandle, most: number, grain: number, random: Random): PublishNext {
  const level = new RandomWalk(most, grain, random);
  scalar.set(level.value);
  return () => {
    level.move();
    scalar.set(level.value);
  };
}

function observe(histogram: Histogram, random: Random): PublishNext {
  histogram.observe(random.next());
  return () => void histogram.observe(random.next() ** 4);
}

function summarize(summary: Summary, random: Random): PublishNext {
  let count = 0;
  const move = () => {
    count += 1 + random.below(10);
    const sizes = [400, 900, 1400].map((size) => size + random.below(100));
    summary.set(count, count * 512, sizes);
  };
  move();
  return move;
}

interface LiveInstance {
  readonly plan: PlannedInstance;
  readonly tops: readonly PublishedObject[];
  readonly moves: readonly PublishNext[];
}

/** The percentage of ticks at which a client connects or disconnects. */
const TURNOVER_PERCENT = 30;

export class LiveTree {
  readonly #publisher: ObjectPublisher;
  readonly #root: PublishedObject;
  readonly #rootId: string;
  readonly #random: Random;
  readonly #objects = new Map<string, PublishedObject>();
  readonly #instances: LiveInstance[] = [];
  /** The removed instances, which may return. */
  readonly #away: PlannedInstance[] = [];
  readonly #transients: number;
  #dropped = 0;

  constructor(
    publisher: ObjectPublisher,
    rootId: string,
    plans: readonly PlannedInstance[],
    random: Random,
  ) {
    this.#publisher = publisher;
    this.#rootId = rootId;
    this.#random = random;
    const first = plans.flatMap(({ objects }) => objects).find(({ seedPath }) => seedPath === '');
    this.#root = publisher.addRoot(rootId, first?.className ?? 'Process');
    this.#objects.set('', this.#root);
    for (const plan of [...plans].sort(byDepth)) this.#instances.push(this.#publish(plan));
    this.#transients = plans.filter(({ isTransient }) => isTransient).length;
  }

  /** The number of objects and variables for which the publisher had no space. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Changes about `fraction` of all values. At some ticks, also adds or removes a client. */
  tick(fraction: number): void {
    for (const { moves } of this.#instances)
      for (const move of moves) if (this.#random.next() < fraction) move();
    if (this.#transients > 0 && this.#random.below(100) < TURNOVER_PERCENT) this.#churn();
  }

  /** Removes or restores an instance. At most half of the transient instances are removed at a time. */
  #churn(): void {
    const isReturning = this.#random.below(this.#transients) < this.#away.length * 2;
    if (isReturning) this.#restore();
    else this.#remove();
  }

  #restore(): void {
    const [plan] = this.#away.splice(this.#random.below(this.#away.length), 1);
    if (plan !== undefined) this.#instances.push(this.#publish(plan));
  }

  #remove(): void {
    const transient = this.#instances.filter(({ plan }) => plan.isTransient);
    const leaving = transient[this.#random.below(transient.length)];
    if (leaving === undefined) return;
    for (const top of leaving.tops) this.#publisher.removeObject(top);
    for (const { seedPath } of leaving.plan.objects) this.#objects.delete(seedPath);
    this.#instances.splice(this.#instances.indexOf(leaving), 1);
    this.#away.push(leaving.plan);
  }

  #publish(plan: PlannedInstance): LiveInstance {
    const moves: PublishNext[] = [];
    const tops: PublishedObject[] = [];
    for (const planned of plan.objects) {
      const { object, isTop } = this.#object(planned, plan);
      if (isTop) tops.push(object);
      for (const variable of planned.variables) {
        const move = this.#variable(object, variable);
        if (move !== undefined) moves.push(move);
      }
    }
    return { plan, tops, moves };
  }

  #object(
    { seedPath, className }: PlannedObject,
    plan: PlannedInstance,
  ): { object: PublishedObject; isTop: boolean } {
    const known = this.#objects.get(seedPath);
    if (known !== undefined) return { object: known, isTop: false };
    const parentPath = this.#nearestAncestor(seedPath);
    const parent = this.#objects.get(parentPath) ?? this.#root;
    const object = this.#publisher.addObject(parent, `${this.#rootId}.${seedPath}`, className);
    if (object.ref === undefined) this.#dropped++;
    this.#objects.set(seedPath, object);
    const isTop = !plan.objects.some((other) => other.seedPath === parentPath);
    return { object, isTop };
  }

  /** The path, below the root, of the nearest existing ancestor; empty for the root. */
  #nearestAncestor(seedPath: string): string {
    let path = seedPath;
    while (path !== '') {
      path = path.slice(0, Math.max(0, path.lastIndexOf('.')));
      if (this.#objects.has(path)) return path;
    }
    return '';
  }

  #variable(object: PublishedObject, planned: PlannedVariable): PublishNext | undefined {
    const { name, type, schema } = planned;
    const kind = kindOf(planned);
    const handle = this.#publisher.addVariable(object, name, type, { kind, schema });
    if (handle.ref === undefined) this.#dropped++;
    return begin(handle, planned, this.#random);
  }
}

const byDepth = (a: PlannedInstance, b: PlannedInstance): number => depthOf(a) - depthOf(b);
const depthOf = ({ objects: [first] }: PlannedInstance): number =>
  first === undefined || first.seedPath === '' ? 0 : first.seedPath.split('.').length;

function kindOf({ type, course }: PlannedVariable): VariableKind {
  if (isFramed(type)) return 'unknown';
  return course.kind === 'total' || course.kind === 'mishaps' ? 'counter' : 'gauge';
}

/** The variables of each worker in a plain tree: one variable of each type. */
const VARIABLES: readonly PlannedVariable[] = [
  { name: 'requests', type: 'u64', course: { kind: 'total', step: 100 }, schema: [] },
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
  { name: 'size', type: 'summary', course: { kind: 'distribution' }, schema: [0.5, 0.9, 0.99] },
];

/** Plans the tree of an application without a catalogue: workers below a root. */
export function planPlainTree(objects: number): readonly PlannedInstance[] {
  return Array.from({ length: Math.max(1, objects) }, (_, n) => ({
    isTransient: n > 0,
    objects: [
      {
        seedPath: n === 0 ? '' : `worker.${n}`,
        className: n === 0 ? 'Process' : 'Worker',
        variables: VARIABLES,
      },
    ],
  }));
}
