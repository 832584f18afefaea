// A publication is a real publisher with its own file, random changes, and the model of its tree.
import type { ObjectState } from '#app/model.js';
import type { Random } from '#app/simulator/course.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import {
  PublishedHistogram,
  PublishedScalar,
  PublishedText,
} from '#app/native/publisher/published-values.js';
import type { PublishedValue } from '#app/native/publisher/published-values.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import type { ModelTree } from './page-model.js';

export const ROOT = 'h.1.demo';
/** Few records, so that the directories often alternate, and few slots, so that they are reused. */
export const CAPACITY = { records: 96, stringBytes: 4096, slots: 64, frameBytes: 4096 };
const MAX_OBJECTS = 14;
const MAX_VARIABLES = 40;
const NAMES = ['a', 'b', 'c'] as const;
const CLASSES = { a: 'unit', b: 'part', c: 'unit' } as const;
const MAX_DEPTH = 3;

/** The variables that an object may have. A name always has the same type. */
const VARIABLES = {
  n: { type: 'u64', kind: 'counter', suffix: '_total' },
  g: { type: 'f64', kind: 'gauge', suffix: '' },
  i: { type: 'i64', kind: 'gauge', suffix: '' },
  t: { type: 'string', kind: 'unknown', suffix: '_info' },
  h: { type: 'histogram', kind: 'unknown', suffix: '' },
  m: { type: 'u64', kind: 'gauge', suffix: '' },
} as const;
type VariableName = keyof typeof VARIABLES;
const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];
const BOUNDS = [1, 2];
/**
 * The possible states of objects, and the number of possible values of `m`. Both are few, so that many
 * changes return to an earlier value.
 */
const STATES = ['init', 'normal', 'dead'] as const;
const MODES = 4;

interface TrackedVariable {
  readonly owner: TrackedObject;
  readonly name: VariableName;
  readonly handle: PublishedValue;
  value: string | undefined;
}

interface TrackedObject {
  readonly object: PublishedObject;
  readonly path: string;
  readonly className: string;
  readonly parent: TrackedObject | undefined;
  readonly children: TrackedObject[];
  readonly variables: TrackedVariable[];
  isSynced: boolean;
  state: ObjectState;
}

/** The relative frequency of each change of the tree. */
const CHANGES = {
  'add object': 6,
  'add variable': 10,
  'remove object': 1,
  'remove variable': 4,
  set: 6,
  'first value': 6,
  unset: 3,
  'object unsynced': 1,
  'object synced': 3,
  'set state': 12,
} as const;
export type ChangeKind = keyof typeof CHANGES;
/** Each change, repeated as often as its frequency says. */
export const WEIGHTED_CHANGES = Object.entries(CHANGES).flatMap(([kind, times]) =>
  new Array<ChangeKind>(times).fill(kind as ChangeKind),
);

export class Publication {
  readonly publisher: Publisher;
  readonly #random: Random;
  /** Returns a number that no value has had before. */
  readonly #next: () => number;
  #root: TrackedObject | undefined;

  constructor(publisher: Publisher, random: Random, next: () => number) {
    this.publisher = publisher;
    this.#random = random;
    this.#next = next;
    this.addRoot();
  }

  get hasRoot(): boolean {
    return this.#root !== undefined;
  }

  addRoot(): void {
    const object = this.publisher.addRoot(ROOT, 'top');
    const none = { parent: undefined, children: [], variables: [] };
    const synced = { isSynced: true, state: 'normal' } as const;
    this.#root = { ...none, ...synced, object, path: '', className: 'top' };
  }

  removeRoot(): void {
    if (this.#root !== undefined) this.publisher.removeObject(this.#root.object);
    this.#root = undefined;
  }

  /** Makes one change and returns its description, or undefined if the change is impossible. */
  change(kind: ChangeKind): string | undefined {
    return this.#root === undefined ? undefined : this.#changes[kind]();
  }

  /** Syncs every object and sets every variable. */
  complete(): void {
    for (const object of this.#objects) this.#syncObject(object, true);
    for (const variable of this.#variables) if (variable.value === undefined) this.#store(variable);
  }

  get tree(): ModelTree | undefined {
    if (this.#root === undefined) return undefined;
    const objects = this.#objects;
    return {
      isSynced: objects.every(({ isSynced }) => isSynced),
      series: [
        ...this.#variables.map(({ owner: { path, className }, name, value }) => ({
          ...{ isState: false, path, value },
          name: `demo_${className}_${name}${VARIABLES[name].suffix} ${path === '' ? '@root' : path}`,
        })),
        ...objects.map(({ path, className, isSynced, state }) => ({
          ...{ isState: true, path, value: isSynced ? state : undefined },
          name: `demo_${className}_state ${path === '' ? '@root' : path}`,
        })),
      ],
    };
  }

  readonly #changes: Readonly<Record<ChangeKind, () => string | undefined>> = {
    'add object': () => this.#addObject(),
    'add variable': () => this.#addVariable(),
    'remove object': () => this.#removeObject(),
    'remove variable': () => {
      const variable = this.#pick(this.#variables);
      if (variable === undefined) return undefined;
      this.publisher.removeVariable(variable.handle);
      drop(variable.owner.variables, variable);
      return textOf(variable);
    },
    set: () => this.#store(this.#pick(this.#variables)),
    'first value': () =>
      this.#store(this.#pick(this.#variables.filter(({ value }) => value === undefined))),
    unset: () => {
      const variable = this.#pick(this.#variables);
      if (variable === undefined) return undefined;
      variable.handle.unset();
      variable.value = undefined;
      return textOf(variable);
    },
    'set state': () => {
      // Prefer the newest objects, because a target may not have bound them yet.
      const objects = this.#objects.toSorted((a, b) => b.object.id - a.object.id);
      const object = this.#pick(this.#random.below(3) === 0 ? objects : objects.slice(0, 4));
      const state = this.#pick(STATES);
      if (object === undefined || state === undefined) return undefined;
      this.publisher.setState(object.object, state);
      object.state = state;
      return `${object.path} = ${state}`;
    },
    'object unsynced': () => this.#syncObject(this.#pick(this.#objects), false),
    'object synced': () =>
      this.#syncObject(this.#pick(this.#objects.filter(({ isSynced }) => !isSynced)), true),
  };

  get #objects(): TrackedObject[] {
    const all = (object: TrackedObject): TrackedObject[] => [
      object,
      ...object.children.flatMap(all),
    ];
    return this.#root === undefined ? [] : all(this.#root);
  }

  get #variables(): TrackedVariable[] {
    return this.#objects.flatMap(({ variables }) => variables);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[this.#random.below(from.length)];
  }

  #addObject(): string | undefined {
    const parent = this.#pick(this.#objects);
    const name = this.#pick(NAMES);
    if (parent === undefined || name === undefined || this.#objects.length >= MAX_OBJECTS)
      return undefined;
    const path = parent.path === '' ? name : `${parent.path}.${name}`;
    const isTaken = parent.children.some((child) => child.path === path);
    if (isTaken || path.split('.').length > MAX_DEPTH) return undefined;
    const className = CLASSES[name];
    const object = this.publisher.addObject(parent.object, `${ROOT}.${path}`, className);
    if (object.id === 0) throw new Error(`no room for object ${path}`);
    const none = { parent, children: [], variables: [], isSynced: true, state: 'normal' as const };
    parent.children.push({ ...none, object, path, className });
    return path;
  }

  #addVariable(): string | undefined {
    const owner = this.#pick(this.#objects);
    const name = this.#pick(VARIABLE_NAMES);
    if (owner === undefined || name === undefined || this.#variables.length >= MAX_VARIABLES)
      return undefined;
    if (owner.variables.some((each) => each.name === name)) return undefined;
    const { type, kind } = VARIABLES[name];
    const schema = type === 'histogram' ? BOUNDS : [];
    const options = { kind, schema, textBytes: 16, synced: false };
    const handle: PublishedValue = this.publisher.addVariable(owner.object, name, type, options);
    if (handle.ref === undefined) throw new Error(`no room for variable ${owner.path} ${name}`);
    const variable = { owner, name, handle, value: undefined };
    owner.variables.push(variable);
    if (this.#random.below(3) > 0) this.#store(variable);
    return textOf(variable);
  }

  #removeObject(): string | undefined {
    const object = this.#pick(this.#objects.filter(({ parent }) => parent !== undefined));
    if (object?.parent === undefined) return undefined;
    this.publisher.removeObject(object.object);
    drop(object.parent.children, object);
    return object.path;
  }

  #syncObject(object: TrackedObject | undefined, isSynced: boolean): string | undefined {
    if (object === undefined) return undefined;
    this.publisher.setSynced(object.object, isSynced);
    object.isSynced = isSynced;
    return object.path;
  }

  #store(variable: TrackedVariable | undefined): string | undefined {
    if (variable === undefined) return undefined;
    variable.value = stored(variable, this.#next());
    return `${textOf(variable)} = ${variable.value}`;
  }
}

/** Stores a value that is derived from a number, and returns it as a page writes it. */
function stored({ handle, name }: TrackedVariable, number: number): string {
  if (handle instanceof PublishedText) {
    handle.set(`v${number}`);
    return `v${number}`;
  }
  if (handle instanceof PublishedHistogram) {
    handle.set([number, 1, 1], number);
    return `1:${number} 2:${number + 1} +Inf:${number + 2} sum:${number} count:${number + 2}`;
  }
  if (!(handle instanceof PublishedScalar)) throw new Error(`no way to store ${name}`);
  const value = valueOf(name, number);
  handle.set(value);
  return String(value);
}

function valueOf(name: VariableName, number: number): number {
  if (name === 'm') return number % MODES;
  return name === 'i' ? -number : name === 'g' ? number + 0.5 : number;
}

const textOf = ({ owner, name, value }: TrackedVariable): string =>
  `${owner.path === '' ? '@root' : owner.path} ${name}${value === undefined ? '' : ` = ${value}`}`;

const drop = <T>(from: T[], what: T): void => void from.splice(from.indexOf(what), 1);
