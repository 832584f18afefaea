// A source of values that nobody announces: owners gather them when they are copied.
import { randomUUID } from 'node:crypto';
import type { Budget } from '../budget.js';
import type {
  Declaration,
  Frame,
  ManagedObject,
  Source,
  StructureChange,
  StructureChanges,
  Variable,
} from '../model.js';
import { Slots } from './slots.js';
import type { Owner } from './slots.js';

export interface GatheredObject extends ManagedObject {
  readonly children: Set<ManagedObject>;
  readonly variables: Set<Variable>;
}

/** What an object has beside its parent. */
export type ObjectFacts = Pick<ManagedObject, 'name' | 'className' | 'labels'>;

/** Changes that one call of `sync` brings. */
const SLICE = 8192;
/** The number of the state `normal`. */
const NORMAL = 1n;
/** The most characters of a text that is shown. */
const MAX_TEXT = 256;
const NO_IDENTITY = { host: '', instance: '', application: '' };

export class GatheredSource implements Source {
  readonly generation = randomUUID();
  readonly roots = new Set<ManagedObject>();
  readonly slots: Slots;
  readonly #texts = new Map<number, string>();
  readonly #maxItems: number;
  #changes: StructureChange[] = [];
  #lastId = 0;
  #items = 0;

  /**
   * @param maxItems the most objects and variables that it holds
   * @param slots an owner's slots come in blocks of a size that fits most owners
   */
  constructor(maxItems: number, slots = new Slots()) {
    this.#maxItems = maxItems;
    this.slots = slots;
  }

  /** Whether so many more objects and variables may be added. */
  hasRoom(items = 1): boolean {
    return this.#items + items <= this.#maxItems;
  }

  get frameBytes(): number {
    return this.#texts.size * MAX_TEXT * 4;
  }

  /** Adds an object in its normal state; a root without a parent. */
  addObject(owner: Owner, facts: ObjectFacts, parent?: GatheredObject): GatheredObject {
    const slot = this.slots.take(owner);
    const { name, className, labels } = facts;
    const object: GatheredObject = {
      id: ++this.#lastId,
      ...{ slot, incarnation: this.slots.incarnation(slot) },
      ...{ name, className, parent, labels: labels ?? {} },
      children: new Set<ManagedObject>(),
      variables: new Set<Variable>(),
      identity: NO_IDENTITY,
      asOf: undefined,
    };
    this.slots.set(slot, NORMAL);
    this.slots.setSynced(slot, true);
    (parent?.children ?? this.roots).add(object);
    this.#items++;
    this.#changes.push({ kind: 'object-added', object });
    return object;
  }

  /** Adds a variable whose value its owner has still to set. */
  addVariable(owner: Owner, object: GatheredObject, declaration: Declaration): Variable {
    const slot = this.slots.take(owner);
    const incarnation = this.slots.incarnation(slot);
    const id = ++this.#lastId;
    const { name, type, kind, unit, help, schema } = declaration;
    // Property by property: objects that are built by spreading take ten times as long.
    const variable: Variable = {
      id,
      object,
      slot,
      incarnation,
      declaration,
      name,
      type,
      kind,
      unit,
      help,
      schema,
    };
    object.variables.add(variable);
    this.#items++;
    this.#changes.push({ kind: 'variable-added', variable });
    return variable;
  }

  /** Removes an object with all below it, which has the same owner, and all values of that. */
  remove(owner: Owner, object: GatheredObject): void {
    (object.parent as GatheredObject | undefined)?.children.delete(object);
    this.#changes.push({ kind: 'object-removed', object });
    this.#forget(object);
    this.slots.release(owner);
  }

  setText({ id, slot }: Variable, text: string): void {
    const cut = text.slice(0, MAX_TEXT);
    if (this.#texts.get(id) === cut) return;
    this.#texts.set(id, cut);
    // The slot of a text counts how often it changed.
    this.slots.add(slot, 1n);
  }

  sync(): StructureChanges {
    const changes = this.#changes.slice(0, SLICE);
    this.#changes = this.#changes.slice(SLICE);
    return { changes, hasMore: this.#changes.length > 0 };
  }

  hasNews(): boolean {
    return this.#changes.length > 0;
  }

  readSlots(first: number, count: number, into: Uint8Array): number {
    return this.slots.readValues(first, count, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return this.slots.readWords(first, count, into);
  }

  readFrame({ id }: Variable, budget?: Budget): Frame | undefined {
    const text = this.#texts.get(id);
    if (text === undefined) return undefined;
    budget?.spend(0, text.length);
    return { type: 'string', text };
  }

  #forget(object: ManagedObject): void {
    this.#items -= 1 + object.variables.size;
    for (const { id } of object.variables) this.#texts.delete(id);
    for (const child of object.children) this.#forget(child);
  }
}
