// Runs a simulated publisher: a generated tree that changes, or a scenario file.
import {
  EMPTY,
  concatMap,
  defer,
  filter,
  from,
  ignoreElements,
  interval,
  map,
  repeat,
  take,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { Fault } from '#app/errors.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { LIMITS } from '#app/native/segment/layout.js';
import type { LiveTree, ObjectPublisher, ValueHandle, ValueHandles } from './live-tree.js';
import { readValid, valuesOf } from './scenario.js';
import type {
  Scenario,
  ScenarioObject,
  ScenarioStep,
  ScenarioValue,
  ScenarioVariable,
} from './scenario.js';

interface Staged {
  readonly variable: ScenarioVariable;
  readonly handle: ValueHandle;
}

interface StagedObject {
  readonly object: PublishedObject;
  readonly parent: string | null;
  readonly variables: Map<string, Staged>;
}

/** The smallest capacity for a text, in bytes, so that later steps can set longer texts. */
const TEXT_ROOM = 128;

/** Publishes the objects of a scenario, and performs its steps. */
export class SimulationStage {
  readonly #publisher: ObjectPublisher;
  readonly #objects = new Map<string, StagedObject>();

  constructor(publisher: ObjectPublisher) {
    this.#publisher = publisher;
  }

  get ids(): readonly string[] {
    return [...this.#objects.keys()];
  }

  /**
   * @throws Fault SCENARIO_INVALID if the parent does not exist, the id is taken or a text is too
   *   long
   */
  add(scenario: ScenarioObject): void {
    try {
      this.#add(scenario);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new Fault('SCENARIO_INVALID', `Object ${scenario.id}: ${error.message}`);
    }
  }

  #add(scenario: ScenarioObject): void {
    const { id, class: className, state, synced } = scenario;
    if (this.#objects.has(id)) throw new Fault('SCENARIO_INVALID', `Object ${id} exists already`);
    const parent = scenario.parent === null ? undefined : this.#find(scenario.parent);
    const object =
      parent === undefined
        ? this.#publisher.addRoot(id, className, { state, synced })
        : this.#publisher.addObject(parent.object, id, className, {
            state,
            synced,
            // A scenario may contain any ids.
            foreignId: true,
          });
    const staged: StagedObject = { object, parent: scenario.parent, variables: new Map() };
    this.#objects.set(id, staged);
    for (const variable of scenario.variables) this.#addVariable(staged, variable);
  }

  play(step: ScenarioStep): void {
    for (const id of step.remove) this.#remove(id);
    for (const object of step.add) this.add(object);
    for (const [id, values] of step.set)
      for (const [name, value] of values) this.set(id, name, value);
    for (const id of step.sync) this.#publisher.setSynced(this.#find(id).object);
    for (const [id, state] of step.state) this.#publisher.setState(this.#find(id).object, state);
  }

  /** Sets a variable to a value of a scenario. @throws Fault SCENARIO_INVALID */
  set(id: string, name: string, value: unknown): void {
    const object = this.#find(id);
    const staged = object.variables.get(name);
    if (staged === undefined)
      throw new Fault('SCENARIO_INVALID', `Object ${id} has no variable ${JSON.stringify(name)}`);
    const checked = readValid(valuesOf(staged.variable.type), value, `step for ${id}`, [name]);
    if (isSameSchema(staged.variable.value, checked)) store(staged.handle, checked);
    else this.#replace(object, staged, checked);
  }

  #addVariable(staged: StagedObject, variable: ScenarioVariable): void {
    const { name, type, kind, unit, help, value } = variable;
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
    const textBytes = Math.max(TEXT_ROOM, bytes * 2 > LIMITS.textBytes ? bytes : bytes * 2);
    const handle = this.#publisher.addVariable(staged.object, name, type, {
      kind,
      unit,
      help,
      textBytes,
      schema: schemaOf(value),
      // A variable of any type is not synced while it has no value.
      synced: false,
    });
    staged.variables.set(name, { variable, handle });
    if (value !== undefined) store(handle, value);
  }

  /** Replaces a variable, since its bounds or quantiles cannot change. */
  #replace(object: StagedObject, { variable, handle }: Staged, value: ScenarioValue): void {
    this.#publisher.removeVariable(handle);
    this.#addVariable(object, { ...variable, value });
  }

  #remove(id: string): void {
    this.#publisher.removeObject(this.#find(id).object);
    const forget = (gone: string) => {
      this.#objects.delete(gone);
      for (const [child, { parent }] of this.#objects) if (parent === gone) forget(child);
    };
    forget(id);
  }

  #find(id: string): StagedObject {
    const staged = this.#objects.get(id);
    if (staged === undefined) throw new Fault('SCENARIO_INVALID', `There is no object ${id}`);
    return staged;
  }
}

const isSameSchema = (one: ScenarioValue | undefined, other: ScenarioValue): boolean =>
  schemaOf(one).join() === schemaOf(other).join();

function schemaOf(value: ScenarioValue | undefined): readonly number[] {
  if (typeof value !== 'object') return [];
  return 'bounds' in value ? value.bounds : value.quantiles.map(([quantile]) => quantile);
}

function store(handle: ValueHandle, value: ScenarioValue): void {
  if (typeof value === 'object') {
    if ('bounds' in value && 'observe' in handle) handle.set(value.counts, value.sum);
    else if ('quantiles' in value && 'set' in handle)
      (handle as ValueHandles['summary']).set(
        value.count,
        value.sum,
        value.quantiles.map(([, each]) => each),
      );
  } else if (typeof value === 'string') (handle as ValueHandles['string']).set(value);
  else (handle as ValueHandles['u64']).set(value);
}

/** The end of a simulation: a clean close, or SIGKILL. */
export type Ending = 'clean' | 'kill';

/** Changes about `fraction` of the tree's values `rateHz` times a second while subscribed; never emits. */
export function live(
  publisher: ObjectPublisher,
  tree: LiveTree,
  rateHz: number,
  fraction: number,
): Observable<Ending> {
  const tick$ = interval(1000 / rateHz).pipe(
    tap(() => {
      tree.tick(fraction);
      publisher.notify();
    }),
    ignoreElements(),
  );
  return rateHz > 0 ? tick$ : EMPTY;
}

/** Publishes the objects of a scenario on a new stage. Call it before the publisher's `place()`. */
export function stageOf(publisher: ObjectPublisher, { objects }: Scenario): SimulationStage {
  const stage = new SimulationStage(publisher);
  for (const object of objects) stage.add(object);
  return stage;
}

/** Plays the steps in order. Keeps publishing after the last step. */
export function play(
  publisher: ObjectPublisher,
  stage: SimulationStage,
  { steps, repeat: isEndless }: Scenario,
): Observable<Ending> {
  const one = (step: ScenarioStep): Observable<ScenarioStep> =>
    timer(step.afterMs).pipe(
      map(() => {
        stage.play(step);
        publisher.notify();
        return step;
      }),
    );
  const once$ = defer(() => from(steps)).pipe(concatMap(one));
  const played$ = steps.length > 0 && isEndless ? once$.pipe(repeat()) : once$;
  return played$.pipe(
    map(({ exit }) => exit),
    filter((exit) => exit !== null),
    take(1),
  );
}
