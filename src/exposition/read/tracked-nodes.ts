// The nodes that a target tracks, by slot, and how many of them have a value.
import { DeclaredVariable } from '../../model.js';
import type { Declaration, ManagedObject } from '../../model.js';
import { PAGE_SLOTS } from './slot-pages.js';
import { isVariable } from './tree-walk.js';
import type { TreeNode } from './tree-walk.js';

/** The flags of a tracked node. */
export const FLAG = {
  /** According to the last report, the node has a value. */
  synced: 1,
  /**
   * Another node uses the slot now, so this node gets no other value: it was removed, but its publisher could not
   * record the removal yet.
   */
  replaced: 2,
  /** A report of a gained or lost value is queued. */
  reportsGained: 4,
  reportsLost: 8,
} as const;

/** The flags of a slot without a tracked node. */
export const NO_NODE = -1;

/** Whether a node with these flags has no value yet but may still get one. */
const isAwaited = (flags: number): boolean => (flags & (FLAG.synced | FLAG.replaced)) === 0;

interface NodePage {
  readonly number: number;
  /** The number of slots with a node. */
  count: number;
  /** The number of slots with a node that has no value yet. */
  awaited: number;
  /** The id of each slot's node; 0 for none. */
  readonly ids: Float64Array;
  readonly incarnations: Uint32Array;
  readonly flags: Uint8Array;
  /** The object of each slot; for a slot of a variable, the object of that variable. */
  readonly objects: (ManagedObject | undefined)[];
  /** The declaration of each variable; undefined for an object. */
  readonly declarations: (Declaration | undefined)[];
}

export class TrackedNodes {
  /** The numbers of objects and variables that have a value or may get one, and how many have a value. */
  readonly objects = { synced: 0, total: 0 };
  readonly variables = { synced: 0, total: 0 };
  readonly #pages = new Map<number, NodePage>();
  /** The pages with awaited nodes. A search for such a node reads only these pages. */
  readonly #awaiting = new Set<NodePage>();
  /** The page of the last lookup: the next lookup is usually for the same page. */
  #last: NodePage | undefined;

  get areAllSynced(): boolean {
    return this.#awaiting.size === 0;
  }

  /** A node that has no value yet, and whose slot no other node uses. */
  get awaited(): TreeNode | undefined {
    for (const { number, ids, flags } of this.#awaiting) {
      const at = flags.findIndex((each, slot) => ids[slot] !== 0 && isAwaited(each));
      return this.node(number * PAGE_SLOTS + at);
    }
    return undefined;
  }

  /** Assigns a node to its slot. */
  set(node: TreeNode, flags: number): void {
    const { slot, id, incarnation } = node;
    const page = this.#pageOf(slot) ?? this.#addPage(Math.floor(slot / PAGE_SLOTS));
    const at = slot % PAGE_SLOTS;
    if (page.ids[at] === 0) page.count++;
    else this.#count(page, at, -1);
    page.ids[at] = id;
    page.incarnations[at] = incarnation;
    page.flags[at] = flags;
    page.objects[at] = isVariable(node) ? node.object : node;
    page.declarations[at] = isVariable(node) ? node.declaration : undefined;
    this.#count(page, at, 1);
  }

  delete(slot: number): void {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    if (page === undefined || page.ids[at] === 0) return;
    this.#count(page, at, -1);
    page.ids[at] = 0;
    page.objects[at] = page.declarations[at] = undefined;
    if (--page.count > 0) return;
    this.#pages.delete(page.number);
    this.#last = undefined;
  }

  /** The id of the node of a slot; 0 if it has none. */
  id(slot: number): number {
    return this.#pageOf(slot)?.ids[slot % PAGE_SLOTS] ?? 0;
  }

  /** The incarnation of the node of a slot; 0 if it has none. */
  incarnation(slot: number): number {
    return this.#pageOf(slot)?.incarnations[slot % PAGE_SLOTS] ?? 0;
  }

  /** The flags of the node of a slot, or `NO_NODE`. */
  flags(slot: number): number {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    return page === undefined || page.ids[at] === 0 ? NO_NODE : (page.flags[at] ?? 0);
  }

  /** Sets the flags of the node of a slot. The slot must have a node. */
  setFlags(slot: number, flags: number): void {
    const page = this.#pageOf(slot);
    if (page === undefined) return;
    const at = slot % PAGE_SLOTS;
    this.#count(page, at, -1);
    page.flags[at] = flags;
    this.#count(page, at, 1);
  }

  isTracked({ slot, id }: TreeNode): boolean {
    return this.id(slot) === id;
  }

  /** Whether a tracked node has a value, according to the last report. */
  isSynced(node: TreeNode): boolean {
    return this.isTracked(node) && (this.flags(node.slot) & FLAG.synced) !== 0;
  }

  /** The node of a slot. */
  node(slot: number): TreeNode | undefined {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    const object = page?.objects[at];
    const declaration = page?.declarations[at];
    if (page === undefined || object === undefined || declaration === undefined) return object;
    const id = page.ids[at] ?? 0;
    return new DeclaredVariable(object, id, slot, page.incarnations[at] ?? 0, declaration);
  }

  clear(): void {
    this.#pages.clear();
    this.#awaiting.clear();
    this.#last = undefined;
  }

  /** Adds the node of a slot to the counts, or subtracts it. */
  #count(page: NodePage, at: number, change: 1 | -1): void {
    const flags = page.flags[at] ?? 0;
    const isSynced = (flags & FLAG.synced) !== 0;
    if (!isSynced && !isAwaited(flags)) return;
    const counts = page.declarations[at] === undefined ? this.objects : this.variables;
    counts.total += change;
    if (isSynced) {
      counts.synced += change;
      return;
    }
    page.awaited += change;
    if (page.awaited === 0) this.#awaiting.delete(page);
    else this.#awaiting.add(page);
  }

  #pageOf(slot: number): NodePage | undefined {
    const number = Math.floor(slot / PAGE_SLOTS);
    if (this.#last?.number === number) return this.#last;
    const page = this.#pages.get(number);
    if (page !== undefined) this.#last = page;
    return page;
  }

  #addPage(number: number): NodePage {
    const page: NodePage = {
      number,
      count: 0,
      awaited: 0,
      ids: new Float64Array(PAGE_SLOTS),
      incarnations: new Uint32Array(PAGE_SLOTS),
      flags: new Uint8Array(PAGE_SLOTS),
      objects: new Array<ManagedObject | undefined>(PAGE_SLOTS).fill(undefined),
      declarations: new Array<Declaration | undefined>(PAGE_SLOTS).fill(undefined),
    };
    this.#pages.set(number, page);
    this.#last = page;
    return page;
  }
}
