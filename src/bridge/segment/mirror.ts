// Publishes the tree of a component in a segment, and stores only changes.
import type { ObjectState, ValueType, VariableKind } from '../../model.js';
import { DEFAULT_CAPACITY } from '../../native/publisher/allocators.js';
import type { Capacity } from '../../native/publisher/allocators.js';
import type { PublishedScalar, PublishedText } from '../../native/publisher/published-values.js';
import type { Publisher } from '../../native/publisher/publisher.js';
import type { PublishedObject } from '../../native/publisher/publisher-options.js';
import { LIMITS } from '../../native/segment/layout.js';
import type { ComponentObject, ComponentVariable, TypedValue } from '../tree/component-tree.js';
import type { TreeLimits } from '../tree/read-tree.js';
import type { Selected } from '../tree/selection.js';

const I64_END = 2n ** 63n;

/**
 * Returns the current type of a variable if that type can hold the value exactly; otherwise the type of the value.
 */
function typeFor({ type, value }: TypedValue, current: ValueType): ValueType {
  if (type === current || typeof value === 'string' || typeof value === 'boolean') return type;
  if (current === 'f64' && typeof value === 'number') return current;
  if (type === 'f64') return type;
  if (current === 'u64' && value >= 0) return current;
  if (current === 'i64' && value < I64_END) return current;
  return type;
}

interface ShownVariable {
  readonly kind: VariableKind;
  readonly type: ValueType;
  readonly handle: PublishedScalar | PublishedText;
  /** The space for a value of type string, in bytes. */
  readonly room: number;
  value: TypedValue['value'];
}

interface ShownObject {
  readonly object: PublishedObject;
  readonly className: string;
  readonly parent: string | undefined;
  readonly variables: Map<string, ShownVariable>;
  state: ObjectState;
}

/** The numbers of changes that one tree made to the segment. */
export interface Changes {
  readonly addedObjects: number;
  readonly removedObjects: number;
  /** The number of existing variables whose values changed. */
  readonly changedValues: number;
  /** The number of objects and variables for which the segment had no free space. */
  readonly dropped: number;
  readonly droppedObjects: number;
}

const NO_CHANGES: Changes = {
  addedObjects: 0,
  removedObjects: 0,
  changedValues: 0,
  dropped: 0,
  droppedObjects: 0,
};

/** The smallest space for a value of type string, in bytes. */
const LEAST_ROOM = 32;

export class Mirror {
  readonly #publisher: Publisher;
  /** The published objects by id, parents before their children. */
  readonly #shown = new Map<string, ShownObject>();
  readonly #roots = new Set<string>();
  #changes = { ...NO_CHANGES };

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  /** Publishes the objects, with `asOfNs` (Unix ns) as the time of their values. */
  show(objects: Selected, asOfNs: bigint): Changes {
    this.#changes = { ...NO_CHANGES };
    this.#removeAbsent(objects);
    const fresh: ShownObject[] = [];
    for (const object of objects.values()) {
      const shown = this.#shown.get(object.id);
      if (shown !== undefined) this.#update(shown, object);
      else {
        const added = this.#add(object);
        if (added !== undefined && object.parent === undefined) fresh.push(added);
      }
    }
    for (const id of this.#roots) {
      const root = this.#shown.get(id);
      if (root !== undefined) this.#publisher.setAsOf(root.object, asOfNs);
    }
    // Mark new roots as synced last, so that a reader that comes early waits for the whole tree.
    for (const { object } of fresh) this.#publisher.setSynced(object);
    const { dropped, droppedObjects } = this.#changes;
    this.#publisher.setDropped(droppedObjects, dropped - droppedObjects);
    return this.#changes;
  }

  /** Marks the values as old until the next tree. */
  markStale(): void {
    for (const id of this.#roots) {
      const root = this.#shown.get(id);
      if (root !== undefined) this.#setState(root, 'auto_recovery');
    }
  }

  /** Removes all roots with all objects below them; returns the number of removed objects. */
  clear(): number {
    const count = this.#shown.size;
    for (const id of this.#roots) {
      const root = this.#shown.get(id);
      if (root !== undefined) this.#publisher.removeObject(root.object);
    }
    this.#roots.clear();
    this.#shown.clear();
    return count;
  }

  get objectCount(): number {
    return this.#shown.size;
  }

  #removeAbsent(objects: Selected): void {
    const gone = new Set<string>();
    for (const [id, shown] of this.#shown) {
      const { parent } = shown;
      const isBelowGone = parent !== undefined && gone.has(parent);
      if (!isBelowGone && isSame(shown, objects.get(id))) continue;
      gone.add(id);
      if (!isBelowGone) this.#publisher.removeObject(shown.object);
    }
    for (const id of gone) {
      this.#shown.delete(id);
      this.#roots.delete(id);
    }
    this.#changes.removedObjects = gone.size;
  }

  #add(object: ComponentObject): ShownObject | undefined {
    const { id, className, state, parent } = object;
    const above = parent === undefined ? undefined : this.#shown.get(parent.id);
    // If the segment has no space for an object, the objects below it are not published either.
    const isHomeless = parent !== undefined && above === undefined;
    const published = isHomeless
      ? undefined
      : above === undefined
        ? this.#publisher.addRoot(id, className, { state, synced: false })
        : this.#publisher.addObject(above.object, id, className, { state, foreignId: true });
    if (published?.ref === undefined) {
      this.#changes.dropped += 1 + object.variables.size;
      this.#changes.droppedObjects++;
      return undefined;
    }
    const variables = new Map<string, ShownVariable>();
    const shown = { object: published, className, parent: parent?.id, variables, state };
    this.#shown.set(id, shown);
    if (parent === undefined) this.#roots.add(id);
    for (const variable of object.variables.values()) this.#addVariable(shown, variable);
    this.#changes.addedObjects++;
    return shown;
  }

  #update(shown: ShownObject, object: ComponentObject): void {
    this.#setState(shown, object.state);
    for (const [name, { handle }] of shown.variables)
      if (!object.variables.has(name)) {
        this.#publisher.removeVariable(handle);
        shown.variables.delete(name);
      }
    for (const variable of object.variables.values()) this.#updateVariable(shown, variable);
  }

  #updateVariable(shown: ShownObject, variable: ComponentVariable): void {
    const before = shown.variables.get(variable.name);
    const { kind, value: typed } = variable;
    if (before === undefined) {
      this.#addVariable(shown, variable);
      return;
    }
    if (before.value === typed.value && before.kind === kind) return;
    this.#changes.changedValues++;
    if (before.kind === kind && fits(before, typed)) {
      before.value = typed.value;
      store(before.handle, typed.value);
      return;
    }
    this.#publisher.removeVariable(before.handle);
    shown.variables.delete(variable.name);
    this.#addVariable(shown, variable);
  }

  #addVariable(shown: ShownObject, { name, kind, value: typed }: ComponentVariable): void {
    const { type, value } = typed;
    const room = typeof value === 'string' ? roomFor(value) : 0;
    const handle = this.#publisher.addVariable(shown.object, name, type, { kind, textBytes: room });
    if (handle.ref === undefined) {
      this.#changes.dropped++;
      return;
    }
    store(handle, value);
    shown.variables.set(name, { kind, type, handle, room, value });
  }

  #setState(shown: ShownObject, state: ObjectState): void {
    if (shown.state === state) return;
    shown.state = state;
    this.#publisher.setState(shown.object, state);
  }
}

const isSame = (shown: ShownObject, object: ComponentObject | undefined): boolean =>
  object?.className === shown.className && object.parent?.id === shown.parent;

const fits = ({ type, room }: ShownVariable, typed: TypedValue): boolean =>
  typeFor(typed, type) === type &&
  (typeof typed.value !== 'string' || bytesOf(typed.value) <= room || room === LIMITS.textBytes);

function store(handle: PublishedScalar | PublishedText, value: TypedValue['value']): void {
  if (typeof value === 'string') (handle as PublishedText).set(value);
  else (handle as PublishedScalar).set(value);
}

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The space for a string value, with room to grow: a power of two, so that other strings can reuse the space. */
const roomFor = (text: string): number =>
  Math.min(LIMITS.textBytes, 2 ** Math.ceil(Math.log2(Math.max(LEAST_ROOM, bytesOf(text) + 8))));

/** Limits that keep a segment file within 1 GiB. Only the used part of the file takes memory. */
const MAX_RECORDS = 1 << 22;
const TEXT_BYTES = 1 << 26;

/** The capacity for trees within these limits. Each object and variable has a slot and a record. */
export function capacityFor({ maxObjects, maxVariables }: TreeLimits): Capacity {
  const nodes = 2 * maxObjects + maxVariables + 256;
  const twice = 2 ** Math.ceil(Math.log2(2 * nodes));
  return {
    records: Math.min(MAX_RECORDS, Math.max(DEFAULT_CAPACITY.records, twice)),
    slots: Math.min(MAX_RECORDS, Math.max(DEFAULT_CAPACITY.slots, twice)),
    stringBytes: TEXT_BYTES,
    frameBytes: TEXT_BYTES,
  };
}
