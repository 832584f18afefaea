// A published tree that lives: totals rise, levels wander, clients come and go.
import type { VariableKind } from '../model.js';
import type {
  PublishedHistogram,
  PublishedScalar,
  PublishedSummary,
} from '../native/published-values.js';
import type { PublishedObject } from '../native/publisher-options.js';
import type { Publisher } from '../native/publisher.js';
import type { Random } from './random.js';
import type { PlannedInstance, PlannedObject, PlannedVariable } from './tree-plan.js';

interface Living {
  readonly move: (random: Random) => void;
}

interface LivingInstance {
  readonly plan: PlannedInstance;
  readonly tops: readonly PublishedObject[];
  readonly living: readonly Living[];
}

/** Of a hundred beats, so many end a client and start another in its place. */
const TURNOVER_PERCENT = 30;

export class LiveTree {
  readonly #publisher: Publisher;
  readonly #root: PublishedObject;
  readonly #rootId: string;
  readonly #random: Random;
  readonly #objects = new Map<string, PublishedObject>();
  readonly #instances: LivingInstance[] = [];

  constructor(
    publisher: Publisher,
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
  }

  /** Moves about `fraction` of all values; now and then a client goes and another comes. */
  beat(fraction: number): void {
    for (const { living } of this.#instances)
      for (const each of living) if (this.#random.next() < fraction) each.move(this.#random);
    if (this.#random.below(100) < TURNOVER_PERCENT) this.#turnOver();
  }

  #turnOver(): void {
    const transient = this.#instances.filter(({ plan }) => plan.isTransient);
    const leaving = transient[this.#random.below(Math.max(1, transient.length))];
    if (leaving === undefined) return;
    for (const top of leaving.tops) this.#publisher.removeObject(top);
    for (const { seedPath } of leaving.plan.objects) this.#objects.delete(seedPath);
    this.#instances[this.#instances.indexOf(leaving)] = this.#publish(leaving.plan);
  }

  #publish(plan: PlannedInstance): LivingInstance {
    const living: Living[] = [];
    const tops: PublishedObject[] = [];
    for (const planned of plan.objects) {
      const { object, isTop } = this.#object(planned, plan);
      if (isTop) tops.push(object);
      for (const variable of planned.variables) {
        const moving = this.#variable(object, variable);
        if (moving !== undefined) living.push(moving);
      }
    }
    return { plan, tops, living };
  }

  #object(
    { seedPath, className }: PlannedObject,
    plan: PlannedInstance,
  ): { object: PublishedObject; isTop: boolean } {
    const known = this.#objects.get(seedPath);
    if (known !== undefined) return { object: known, isTop: false };
    const parentPath = this.#nearest(seedPath);
    const parent = this.#objects.get(parentPath) ?? this.#root;
    const object = this.#publisher.addObject(parent, `${this.#rootId}.${seedPath}`, className);
    this.#objects.set(seedPath, object);
    const isTop = !plan.objects.some((other) => other.seedPath === parentPath);
    return { object, isTop };
  }

  /** The longest seed path above that is there; the root's is empty. */
  #nearest(seedPath: string): string {
    let path = seedPath;
    while (path !== '') {
      path = path.slice(0, Math.max(0, path.lastIndexOf('.')));
      if (this.#objects.has(path)) return path;
    }
    return '';
  }

  #variable(object: PublishedObject, planned: PlannedVariable): Living | undefined {
    const { name, type, course, schema } = planned;
    const kind = kindOf(planned);
    const handle = this.#publisher.addVariable(object, name, type, { kind, schema });
    if (course.kind === 'fixed') {
      if (type === 'string') (handle as { set(text: string): boolean }).set(course.text);
      return undefined;
    }
    if (course.kind === 'distribution') return this.#distribution(handle, type);
    const scalar = handle as PublishedScalar;
    if (course.kind === 'total') {
      scalar.set(this.#random.below(100_000));
      return { move: (random) => void scalar.add(1 + random.below(100)) };
    }
    if (course.kind === 'constant') {
      scalar.set(course.value);
      return undefined;
    }
    const { most } = course;
    const move = (random: Random) => {
      const value = random.next() * most;
      scalar.set(type === 'f64' ? Math.round(value * 1000) / 1000 : Math.round(value));
    };
    move(this.#random);
    return { move };
  }

  #distribution(handle: unknown, type: PlannedVariable['type']): Living {
    if (type === 'histogram') {
      const histogram = handle as PublishedHistogram;
      histogram.observe(this.#random.next());
      return { move: (random) => void histogram.observe(random.next() ** 4) };
    }
    const summary = handle as PublishedSummary;
    let count = 0;
    const move = (random: Random) => {
      count += 1 + random.below(10);
      summary.set(
        count,
        count * 512,
        [400, 900, 1400].map((x) => x + random.below(100)),
      );
    };
    move(this.#random);
    return { move };
  }
}

const byDepth = (a: PlannedInstance, b: PlannedInstance): number => depthOf(a) - depthOf(b);
const depthOf = ({ objects: [first] }: PlannedInstance): number =>
  first === undefined || first.seedPath === '' ? 0 : first.seedPath.split('.').length;

function kindOf({ type, course }: PlannedVariable): VariableKind {
  if (type === 'string' || type === 'histogram' || type === 'summary') return 'unknown';
  return course.kind === 'total' ? 'counter' : 'gauge';
}
