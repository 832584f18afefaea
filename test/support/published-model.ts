// A publisher, together with the values that readers must see: the oracle of the round-trip tests.
import { OBJECT_STATES } from '#app/model.js';
import { VALUE_TYPES } from '#app/published.js';
import type { ObjectState, ValueType, VariableKind } from '#app/model.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import {
  PublishedHistogram,
  PublishedScalar,
  PublishedSummary,
  PublishedText,
} from '#app/native/publisher/published-values.js';
import type { PublishedValue } from '#app/native/publisher/published-values.js';
import type { PlainObject, PlainValue, PlainVariable } from './read-tree.js';

export const TYPES = Object.keys(VALUE_TYPES) as readonly ValueType[];
const KINDS: readonly VariableKind[] = ['unknown', 'counter', 'gauge'];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface KnownVariable extends Mutable<PlainVariable> {
  readonly handle: PublishedValue;
  readonly maxTextBytes: number;
  owner: KnownObject;
}
interface KnownObject extends Omit<Mutable<PlainObject>, 'variables' | 'children'> {
  readonly published: PublishedObject;
  readonly parent: KnownObject | undefined;
  readonly variables: KnownVariable[];
  readonly children: KnownObject[];
}

/** One random step: `pick` selects the object or variable, and the other fields say what changes. */
export interface Step {
  readonly action: keyof typeof ACTIONS;
  readonly pick: number;
  readonly number: number;
  readonly text: string;
}

export class PublishedModel {
  readonly publisher: Publisher;
  readonly roots: KnownObject[] = [];
  objectsDropped = 0;
  variablesDropped = 0;

  constructor(publisher: Publisher) {
    this.publisher = publisher;
  }

  run(step: Step): void {
    ACTIONS[step.action](this, step);
  }

  /** The tree that a reader must see now. */
  tree(): PlainObject[] {
    const plain = (object: KnownObject): PlainObject => {
      const { name, className, identity, state, isSynced, asOf } = object;
      const variables = object.variables.map(({ name, type, kind, unit, help, schema, value }) => ({
        ...{ name, type, kind, unit, help, schema, value },
      }));
      const children = object.children.map(plain);
      return { name, className, identity, state, isSynced, asOf, variables, children };
    };
    return this.roots.map(plain);
  }

  objects(): KnownObject[] {
    const all = (object: KnownObject): KnownObject[] => [object, ...object.children.flatMap(all)];
    return this.roots.flatMap(all);
  }

  variables = (): KnownVariable[] => this.objects().flatMap(({ variables }) => variables);
}

const chosen = <T>(from: readonly T[], pick: number): T | undefined => from[pick % from.length];

function add(model: PublishedModel, step: Step, parent: KnownObject | undefined): void {
  const state: ObjectState = chosen(OBJECT_STATES, step.number) ?? 'normal';
  const isSynced = step.number % 2 === 0;
  // Ids do not have to extend the parent's id, because readers use the parent links only.
  const options = { state, synced: isSynced, foreignId: true };
  const className = `Class${step.number % 3}`;
  const identity =
    parent === undefined && isSynced ? { host: step.text, instance: '1', application: 'a' } : {};
  const published =
    parent === undefined
      ? model.publisher.addRoot(step.text, className, { ...options, identity })
      : model.publisher.addObject(parent.published, step.text, className, options);
  if (published.id === 0) {
    model.objectsDropped++;
    return;
  }
  const names = { name: step.text, className };
  const said = { identity: { host: '', instance: '', application: '', ...identity } };
  const links = { published, parent, variables: [], children: [] };
  const object = { ...names, ...said, state, isSynced, asOf: undefined, ...links };
  (parent?.children ?? model.roots).push(object);
}

function addVariable(model: PublishedModel, step: Step): void {
  const owner = chosen(model.objects(), step.pick);
  if (owner === undefined) return;
  const type: ValueType = chosen(TYPES, step.number) ?? 'u64';
  const hasSchema = type === 'histogram' || type === 'summary';
  const schema = hasSchema ? Array.from({ length: step.pick % 5 }, (_, i) => i / 4) : [];
  const isFramed = hasSchema || type === 'string';
  const stated = chosen(KINDS, step.pick) ?? 'unknown';
  const texts = { unit: cut(step.text, 16), help: `Help ${step.number % 4}` };
  const textBytes = step.number % 40;
  const options = { ...texts, kind: stated, schema, textBytes };
  const handle = model.publisher.addVariable(owner.published, step.text, type, options);
  if (handle.ref === undefined) {
    model.variablesDropped++;
    return;
  }
  const kind = isFramed ? 'unknown' : stated;
  const value = firstValue(type, schema);
  const facts = { name: step.text, type, kind, ...texts, schema, value };
  const maxTextBytes = Math.ceil(textBytes / 8) * 8;
  owner.variables.push({ ...facts, handle, maxTextBytes, owner });
}

/** The value before the first store. Histograms and summaries have no observations yet. */
function firstValue(type: ValueType, schema: readonly number[]): PlainValue {
  if (type === 'histogram') return { type, sum: 0, counts: new BigUint64Array(schema.length + 1) };
  if (type !== 'summary') return undefined;
  return { type, count: 0n, sum: 0, values: new Float64Array(schema.length).fill(NaN) };
}

/** Truncates a text to at most `maxBytes` bytes without splitting a character. */
function cut(text: string, maxBytes: number): string {
  let kept = '';
  for (const character of text)
    if (Buffer.byteLength(kept + character) <= maxBytes) kept += character;
    else break;
  return kept;
}

/** Stores the value of a step and returns the value that a reader must then read. */
function store({ handle, type, schema, maxTextBytes }: KnownVariable, step: Step): PlainValue {
  if (handle instanceof PublishedText) {
    handle.set(step.text);
    return { type, text: cut(step.text, maxTextBytes) };
  }
  const entries = schema.map((_, index) => step.number + index);
  if (handle instanceof PublishedHistogram) {
    handle.set([...entries, step.pick], step.number / 3);
    const counts = BigUint64Array.from([...entries, step.pick].map(BigInt));
    return { type, sum: step.number / 3, counts };
  }
  if (handle instanceof PublishedSummary) {
    handle.set(step.pick, step.number / 3, entries);
    return {
      type,
      count: BigInt(step.pick),
      sum: step.number / 3,
      values: new Float64Array(entries),
    };
  }
  if (!(handle instanceof PublishedScalar)) throw new TypeError(`No way to store a ${type}`);
  const number = type === 'i64' ? -step.number : step.number;
  const value = type === 'bool' ? number % 2 === 0 : type === 'f64' ? number / 7 : number;
  handle.set(value);
  return type === 'f64' ? Number(value) : BigInt(value);
}

const drop = <T>(from: T[], what: T): void => void from.splice(from.indexOf(what), 1);

const ACTIONS = {
  'add a root': (model: PublishedModel, step: Step) => add(model, step, undefined),
  'add an object': (model: PublishedModel, step: Step) => {
    const parent = chosen(model.objects(), step.pick);
    if (parent !== undefined) add(model, step, parent);
  },
  'add a variable': addVariable,
  'set a variable': (model: PublishedModel, step: Step) => {
    const variable = chosen(model.variables(), step.pick);
    if (variable !== undefined) variable.value = store(variable, step);
  },
  'unset a variable': (model: PublishedModel, step: Step) => {
    const variable = chosen(model.variables(), step.pick);
    variable?.handle.unset();
    if (variable !== undefined) variable.value = undefined;
  },
  'remove a variable': (model: PublishedModel, step: Step) => {
    const variable = chosen(model.variables(), step.pick);
    if (variable === undefined) return;
    model.publisher.removeVariable(variable.handle);
    drop(variable.owner.variables, variable);
  },
  'remove an object': (model: PublishedModel, step: Step) => {
    const object = chosen(model.objects(), step.pick);
    if (object === undefined) return;
    model.publisher.removeObject(object.published);
    drop(object.parent?.children ?? model.roots, object);
  },
  'set a state': (model: PublishedModel, step: Step) => {
    const object = chosen(model.objects(), step.pick);
    const state = chosen(OBJECT_STATES, step.number) ?? 'normal';
    if (object === undefined) return;
    model.publisher.setState(object.published, state);
    object.state = state;
  },
  'sync an object': (model: PublishedModel, step: Step) => {
    const object = chosen(model.objects(), step.pick);
    if (object === undefined) return;
    model.publisher.setSynced(object.published, step.number % 3 > 0);
    object.isSynced = step.number % 3 > 0;
  },
  'state the as-of time': (model: PublishedModel, step: Step) => {
    const root = chosen(model.roots, step.pick);
    if (root?.published.asOf === undefined) return;
    root.asOf = step.number % 3 > 0 ? BigInt(step.number) : undefined;
    model.publisher.setAsOf(root.published, root.asOf);
  },
};

export const STEP_ACTIONS = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[];
