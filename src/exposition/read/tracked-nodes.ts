// The nodes that a target tracks, by slot, and how many of them have a value.
import { DeclaredVariable } from '../../model.js';
import type { Declaration, ManagedObject } from '../../model.js';
import { SECTOR_SLOTS, sectorOf } from './slots.js';
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
  queued: 4,
} as const;

/** Whether a node with these flags has no value yet but may still get one. */
const isAwaited = (flags: number): boolean => (flags & (FLAG.synced | FLAG.replaced)) === 0;

/** The nodes of the slots of a sector. */
interface SectorNodes {
  readonly sector: number;
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
  readonly #sectors = new Map<number, SectorNodes>();
  /** The sectors with awaited nodes. A search for such a node reads only these sectors. */
  readonly #awaiting = new Set<SectorNodes>();

  get areAllSynced(): boolean {
    return this.#awaiting.size === 0;
  }

  /** A node that has no value yet, and whose slot no other node uses. */
  get awaited(): TreeNode | undefined {
    for (const { sector, ids, flags } of this.#awaiting) {
      const at = flags.findIndex((each, slot) => ids[slot] !== 0 && isAwaited(each));
      return this.node(sector * SECTOR_SLOTS + at);
    }
    return undefined;
  }

  /** Assigns a node to its slot. */
  set(node: TreeNode, flags: number): void {
    const { slot, id, incarnation } = node;
    const nodes = this.#nodesOf(slot) ?? this.#addSector(sectorOf(slot));
    const at = slot % SECTOR_SLOTS;
    if (nodes.ids[at] === 0) nodes.count++;
    else this.#count(nodes, at, -1);
    nodes.ids[at] = id;
    nodes.incarnations[at] = incarnation;
    nodes.flags[at] = flags;
    nodes.objects[at] = isVariable(node) ? node.object : node;
    nodes.declarations[at] = isVariable(node) ? node.declaration : undefined;
    this.#count(nodes, at, 1);
  }

  delete(slot: number): void {
    const nodes = this.#nodesOf(slot);
    const at = slot % SECTOR_SLOTS;
    if (nodes === undefined || nodes.ids[at] === 0) return;
    this.#count(nodes, at, -1);
    nodes.ids[at] = 0;
    nodes.objects[at] = nodes.declarations[at] = undefined;
    if (--nodes.count === 0) this.#sectors.delete(nodes.sector);
  }

  /** The id of the node of a slot; 0 if it has none. */
  id(slot: number): number {
    return this.#nodesOf(slot)?.ids[slot % SECTOR_SLOTS] ?? 0;
  }

  /** The incarnation of the node of a slot; 0 if it has none. */
  incarnation(slot: number): number {
    return this.#nodesOf(slot)?.incarnations[slot % SECTOR_SLOTS] ?? 0;
  }

  /** The flags of the node of a slot; undefined if it has none. */
  flags(slot: number): number | undefined {
    const nodes = this.#nodesOf(slot);
    const at = slot % SECTOR_SLOTS;
    return nodes === undefined || nodes.ids[at] === 0 ? undefined : nodes.flags[at];
  }

  /** Sets the flags of the node of a slot. The slot must have a node. */
  setFlags(slot: number, flags: number): void {
    const nodes = this.#nodesOf(slot);
    if (nodes === undefined) return;
    const at = slot % SECTOR_SLOTS;
    this.#count(nodes, at, -1);
    nodes.flags[at] = flags;
    this.#count(nodes, at, 1);
  }

  isTracked({ slot, id }: TreeNode): boolean {
    return this.id(slot) === id;
  }

  /** Whether a tracked node has a value, according to the last report. */
  isSynced(node: TreeNode): boolean {
    return this.isTracked(node) && ((this.flags(node.slot) ?? 0) & FLAG.synced) !== 0;
  }

  /** The node of a slot. */
  node(slot: number): TreeNode | undefined {
    const nodes = this.#nodesOf(slot);
    const at = slot % SECTOR_SLOTS;
    const object = nodes?.objects[at];
    const declaration = nodes?.declarations[at];
    if (nodes === undefined || object === undefined || declaration === undefined) return object;
    const id = nodes.ids[at] ?? 0;
    return new DeclaredVariable(object, id, slot, nodes.incarnations[at] ?? 0, declaration);
  }

  clear(): void {
    this.#sectors.clear();
    this.#awaiting.clear();
  }

  /** Adds the node of a slot to the counts, or subtracts it. */
  #count(nodes: SectorNodes, at: number, change: 1 | -1): void {
    const flags = nodes.flags[at] ?? 0;
    const isSynced = (flags & FLAG.synced) !== 0;
    if (!isSynced && !isAwaited(flags)) return;
    const counts = nodes.declarations[at] === undefined ? this.objects : this.variables;
    counts.total += change;
    if (isSynced) {
      counts.synced += change;
      return;
    }
    nodes.awaited += change;
    if (nodes.awaited === 0) this.#awaiting.delete(nodes);
    else this.#awaiting.add(nodes);
  }

  #nodesOf(slot: number): SectorNodes | undefined {
    return this.#sectors.get(sectorOf(slot));
  }

  #addSector(sector: number): SectorNodes {
    const nodes: SectorNodes = {
      ...{ sector, count: 0, awaited: 0 },
      ids: new Float64Array(SECTOR_SLOTS),
      incarnations: new Uint32Array(SECTOR_SLOTS),
      flags: new Uint8Array(SECTOR_SLOTS),
      objects: new Array<ManagedObject | undefined>(SECTOR_SLOTS).fill(undefined),
      declarations: new Array<Declaration | undefined>(SECTOR_SLOTS).fill(undefined),
    };
    this.#sectors.set(sector, nodes);
    return nodes;
  }
}
