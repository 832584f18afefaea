// A tree of managed objects in memory, for a component that serves it.
import type { ObjectState, ValueType } from '#app/model.js';
import type {
  ObjectOptions,
  PublishedObject,
  VariableOptions,
} from '#app/native/publisher/publisher-options.js';
import type { ObjectPublisher, ValueHandle, ValueHandles } from '../object-publisher.js';
import { handleOf } from './served-value.js';
import type { KeptVariable, ServedVariable } from './served-value.js';

/** An object as it is now; variables and children are in the order of their addition. */
export interface ServedObject {
  readonly id: string;
  readonly className: string;
  readonly state: ObjectState;
  readonly variables: Iterable<ServedVariable>;
  readonly children: Iterable<ServedObject>;
}

interface KeptObject extends ServedObject {
  readonly handle: PublishedObject;
  readonly depth: number;
  readonly siblings: Set<KeptObject>;
  readonly variables: Set<KeptVariable>;
  readonly children: Set<KeptObject>;
  state: ObjectState;
}

/** Far more levels than any real tree, and few enough for recursion. */
const MAX_DEPTH = 1000;

/** Does not keep whether an object is synced: the vendor's view does not show it. */
export class ServedTree implements ObjectPublisher {
  readonly #roots = new Set<KeptObject>();
  readonly #objects = new Map<number, KeptObject>();
  readonly #owners = new Map<number, KeptObject>();
  #lastId = 0;

  get roots(): Iterable<ServedObject> {
    return this.#roots;
  }

  addRoot(name: string, className: string, options: ObjectOptions = {}): PublishedObject {
    return this.#add(undefined, name, className, options);
  }

  /**
   * Adds below an object; below a removed one the handle's `id` is 0 and nothing is kept.
   * @throws RangeError when it would be 1001 levels deep
   */
  addObject(
    parent: PublishedObject,
    name: string,
    className: string,
    options: ObjectOptions = {},
  ): PublishedObject {
    return this.#add(parent, name, className, options);
  }

  addVariable<T extends ValueType>(
    object: PublishedObject,
    name: string,
    type: T,
    { kind = 'unknown', textBytes = 64 }: VariableOptions = {},
  ): ValueHandles[T] {
    const owner = this.#objects.get(object.id);
    const kept: KeptVariable = {
      name: wellFormed(name),
      type,
      kind,
      value: undefined,
      ref: { slot: ++this.#lastId, incarnation: 1 },
      room: Math.ceil(textBytes / 8) * 8,
      isGone: owner === undefined,
    };
    if (owner !== undefined) {
      owner.variables.add(kept);
      this.#owners.set(kept.ref.slot, owner);
    }
    return handleOf(kept, type);
  }

  setState(object: PublishedObject, state: ObjectState): boolean {
    const kept = this.#objects.get(object.id);
    if (kept !== undefined) kept.state = state;
    return kept !== undefined;
  }

  setSynced(object: PublishedObject): boolean {
    return this.#objects.has(object.id);
  }

  removeObject(object: PublishedObject): void {
    const kept = this.#objects.get(object.id);
    kept?.siblings.delete(kept);
    if (kept !== undefined) this.#forget(kept);
  }

  removeVariable({ ref }: Pick<ValueHandle, 'ref'>): void {
    const owner = this.#owners.get(ref?.slot ?? 0);
    for (const kept of owner?.variables ?? [])
      if (kept.ref === ref) {
        owner?.variables.delete(kept);
        this.#forgetVariable(kept);
      }
  }

  /** Does nothing: each request reads the current tree. */
  notify(): void {
    return;
  }

  #add(
    parent: PublishedObject | undefined,
    name: string,
    className: string,
    { state = 'normal' }: ObjectOptions,
  ): PublishedObject {
    const above = parent === undefined ? undefined : this.#objects.get(parent.id);
    const siblings = parent === undefined ? this.#roots : above?.children;
    if (siblings === undefined) return { id: 0, name, ref: undefined, parent, asOf: undefined };
    const depth = (above?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH)
      throw new RangeError(`Object "${name}" has ${MAX_DEPTH} objects on a path above it already`);
    const id = ++this.#lastId;
    const handle = { id, name, ref: { slot: id, incarnation: 1 }, parent, asOf: undefined };
    const kept: KeptObject = {
      id: wellFormed(name),
      className: wellFormed(className),
      state,
      handle,
      depth,
      siblings,
      variables: new Set(),
      children: new Set(),
    };
    this.#objects.set(id, kept);
    siblings.add(kept);
    return handle;
  }

  #forget(gone: KeptObject): void {
    this.#objects.delete(gone.handle.id);
    for (const variable of gone.variables) this.#forgetVariable(variable);
    for (const child of gone.children) this.#forget(child);
  }

  #forgetVariable(gone: KeptVariable): void {
    this.#owners.delete(gone.ref.slot);
    gone.isGone = true;
  }
}

/** Names are sent as UTF-8, which has no lone surrogates. */
const wellFormed = (text: string): string => Buffer.from(text).toString();
