// A published tree that changes: totals rise, levels wander, clients come and go.
import type { VariableKind } from '#app/model.js';
import { isFramed } from '#app/published.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { begin } from './move.js';
import type { Move } from './move.js';
import type { ObjectPublisher } from './object-publisher.js';
import type { Random } from './random.js';
import type { PlannedInstance, PlannedObject, PlannedVariable } from './tree-plan.js';

interface LivingInstance {
  readonly plan: PlannedInstance;
  readonly tops: readonly PublishedObject[];
  readonly moves: readonly Move[];
}

/** Percentage of beats at which a client comes or goes. */
const TURNOVER_PERCENT = 30;

export class LiveTree {
  readonly #publisher: ObjectPublisher;
  readonly #root: PublishedObject;
  readonly #rootId: string;
  readonly #random: Random;
  readonly #objects = new Map<string, PublishedObject>();
  readonly #instances: LivingInstance[] = [];
  /** Removed groups that may return. */
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

  /** Objects and variables without room. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Changes about `fraction` of all values; now and then a client comes or goes. */
  beat(fraction: number): void {
    for (const { moves } of this.#instances)
      for (const move of moves) if (this.#random.next() < fraction) move();
    if (this.#transients > 0 && this.#random.below(100) < TURNOVER_PERCENT) this.#turnOver();
  }

  /** The more are away, the likelier one returns; at most half are away. */
  #turnOver(): void {
    const isComing = this.#random.below(this.#transients) < this.#away.length * 2;
    if (isComing) this.#come();
    else this.#go();
  }

  #come(): void {
    const [plan] = this.#away.splice(this.#random.below(this.#away.length), 1);
    if (plan !== undefined) this.#instances.push(this.#publish(plan));
  }

  #go(): void {
    const transient = this.#instances.filter(({ plan }) => plan.isTransient);
    const leaving = transient[this.#random.below(transient.length)];
    if (leaving === undefined) return;
    for (const top of leaving.tops) this.#publisher.removeObject(top);
    for (const { seedPath } of leaving.plan.objects) this.#objects.delete(seedPath);
    this.#instances.splice(this.#instances.indexOf(leaving), 1);
    this.#away.push(leaving.plan);
  }

  #publish(plan: PlannedInstance): LivingInstance {
    const moves: Move[] = [];
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
    const parentPath = this.#nearest(seedPath);
    const parent = this.#objects.get(parentPath) ?? this.#root;
    const object = this.#publisher.addObject(parent, `${this.#rootId}.${seedPath}`, className);
    if (object.ref === undefined) this.#dropped++;
    this.#objects.set(seedPath, object);
    const isTop = !plan.objects.some((other) => other.seedPath === parentPath);
    return { object, isTop };
  }

  /** The longest existing seed path above; the root's is empty. */
  #nearest(seedPath: string): string {
    let path = seedPath;
    while (path !== '') {
      path = path.slice(0, Math.max(0, path.lastIndexOf('.')));
      if (this.#objects.has(path)) return path;
    }
    return '';
  }

  #variable(object: PublishedObject, planned: PlannedVariable): Move | undefined {
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
