// Copies the values of one target into cells in the kernel's memory, and reports nodes that gain or lose their value.
//
// A value counts if the word of its slot named the node before and after the value was copied
// (docs/segment-format.md, 9). A copy reads the values of a sector, then its words. If a word differs from the last
// copy, the value may be older than the word, so the sector is copied again. If the word changes once more, the slot
// is unstable: it has no value until the next copy.
import { FifoQueue } from '../../collections/by-id.js';
import type { ManagedObject, SlotRef, Source } from '../../model.js';
import { runToEnd } from '../../run-to-end.js';
import type { Kernel } from '../wasm/kernel.js';
import { CELL_BYTES, CELL_WORD, CHANGED_WORDS_AT } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';
import { ChangeDetector } from './change-detector.js';
import { SECTOR_SLOTS, rangesOf, sectorOf, syncedWord } from './slots.js';
import type { SectorRange } from './slots.js';
import { FLAG, TrackedNodes } from './tracked-nodes.js';
import type { TreeNode } from './tree-walk.js';

const SECTOR_BYTES = SECTOR_SLOTS * CELL_BYTES;
/** For each slot of a copy: its value, its word, and its index if the word changed. */
const SCRATCH_BYTES = 8 + 4 + 4;
/** How many slots have their flags updated in one step. */
const UPDATES_PER_STEP = 4096;

export interface SlotListener {
  /** The node got its value; called by `reportSynced`. */
  synced(node: TreeNode): void;
  /** The node lost its value; called by `reportUnsynced`. */
  unsynced(node: TreeNode): void;
  /** The slot of a node in `changes` changed; called by `reading`. */
  changed(node: TreeNode): void;
}

export class SlotReader {
  readonly nodes = new TrackedNodes();
  /** The nodes whose changes are reported. */
  readonly changes: ChangeDetector;
  readonly #kernel: Kernel;
  readonly #source: Source;
  readonly #root: Pick<ManagedObject, 'id'>;
  readonly #scratch: Scratch;
  /** The address of the cells of each sector to copy. */
  readonly #cells = new Map<number, number>();
  /** Slots to check after the next copy: those tracked since the last copy, and the unstable ones. */
  #newSlots: number[] = [];
  readonly #unstable = new Set<number>();
  /** Slots of nodes that gained or lost their value. The gain or loss is not yet reported to the listener. */
  readonly #gained = new FifoQueue<number>();
  readonly #lost = new FifoQueue<number>();

  /** @param root the reader awaits its value even if another node uses its slot */
  constructor(kernel: Kernel, source: Source, root: Pick<ManagedObject, 'id'>) {
    this.#kernel = kernel;
    this.#source = source;
    this.#root = root;
    this.changes = new ChangeDetector(kernel, (slot) => this.address(slot));
    this.#scratch = new Scratch(kernel);
  }

  /**
   * Tracks a node.
   * @returns whether the node has a value now. If so, `synced` is not called for it; otherwise a later copy finds the
   *   value.
   */
  track(node: TreeNode): boolean {
    const { slot, incarnation } = node;
    this.address(slot);
    const isSynced = this.#hasValue(slot, incarnation);
    this.nodes.set(node, isSynced ? FLAG.synced : 0);
    if (!isSynced) this.#newSlots.push(slot);
    return isSynced;
  }

  /** Whether a node without a value was tracked since the last copy, or a slot was unstable in it. */
  get hasNew(): boolean {
    return this.#newSlots.length > 0;
  }

  /** Stops tracking a node, without a call of the listener. */
  untrack(node: TreeNode): void {
    if (this.nodes.isTracked(node)) this.nodes.delete(node.slot);
  }

  /** The address of a slot's cell. Copies the slot's sector for the first time, and later copies include it. */
  address(slot: number): number {
    const sector = sectorOf(slot);
    const cells = this.#cells.get(sector) ?? this.#addSector(sector);
    return cells + (slot % SECTOR_SLOTS) * CELL_BYTES;
  }

  /** The copied bits of a slot, tracked or not; undefined if its sector is not copied or it has no value. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const hasValue = this.#hasValue(slot, incarnation);
    return hasValue ? this.#kernel.u64[this.address(slot) >>> 3] : undefined;
  }

  /** Whether any gain or loss of a value is not yet reported. */
  get hasUnreported(): boolean {
    return this.#gained.size > 0 || this.#lost.size > 0;
  }

  /**
   * Copies all sectors with tracked slots, finds the nodes that gained or lost a value, and reports changes. The work
   * takes small steps; until the last step, no other method may be called.
   * @returns whether any value differs from the last copy
   */
  *reading(listener: SlotListener): Generator<void, boolean> {
    const isChanged = yield* this.#copying(this.#cells.keys());
    return (yield* this.#reportingChanges(listener)) || isChanged;
  }

  /** Copies only the sectors with slots tracked since the last copy; reports no changes. */
  readNew(): boolean {
    return runToEnd(this.#copying(this.#newSlots.map(sectorOf)));
  }

  /** Reports the next node that got its value; false if there is none. */
  reportSynced(listener: SlotListener): boolean {
    return this.#reportNext(this.#gained, listener);
  }

  /** Reports the next node that lost its value; false if there is none. */
  reportUnsynced(listener: SlotListener): boolean {
    return this.#reportNext(this.#lost, listener);
  }

  close(): void {
    for (const cells of this.#cells.values()) this.#kernel.arena.free(cells, SECTOR_BYTES);
    this.#cells.clear();
    this.changes.close();
    this.#scratch.close();
    this.nodes.clear();
    this.#gained.clear();
    this.#lost.clear();
  }

  *#copying(sectors: Iterable<number>): Generator<void, boolean> {
    const newSlots = this.#newSlots;
    this.#newSlots = [];
    this.#unstable.clear();
    let isChanged = false;
    for (const range of rangesOf(sectors)) {
      const changed: number[] = [];
      if (this.#copy(range, changed)) isChanged = true;
      // Nodes lose the values of unstable slots at once, since a value may belong to another node now.
      const unstable = this.#copyAgain(changed);
      for (const slots of [changed, unstable]) yield* this.#updatingFlags(slots);
      yield;
    }
    yield* this.#updatingFlags(newSlots);
    return isChanged;
  }

  /**
   * Copies the values of these sectors, then their words. Appends the slots whose words differ to `changedSlots`.
   * @returns whether any value or word differs from the last copy
   */
  #copy(range: SectorRange, changedSlots: number[]): boolean {
    const first = range.first * SECTOR_SLOTS;
    const slots = range.sectors * SECTOR_SLOTS;
    const values = this.#scratch.reserve(slots * SCRATCH_BYTES);
    const words = values + slots * 8;
    const out = words + slots * 4;
    const valuesRead = this.#source.readSlots(first, slots, this.#kernel.view(values, slots * 8));
    const wordsRead = this.#source.readWords(first, slots, this.#kernel.view(words, slots * 4));
    // Slots that the source no longer has keep their last values.
    const end = Math.min(valuesRead, wordsRead);
    let changed = 0;
    const { run, u32 } = this.#kernel;
    for (let at = 0; at < end; at += SECTOR_SLOTS) {
      const cells = this.address(first + at);
      const count = Math.min(SECTOR_SLOTS, end - at);
      changed += run.storeChanged(cells, values + at * 8, words + at * 4, count, out);
      const found = u32[CHANGED_WORDS_AT >>> 2] ?? 0;
      for (let i = 0; i < found; i++) changedSlots.push(first + at + (u32[(out >>> 2) + i] ?? 0));
    }
    return changed > 0;
  }

  /** Copies the sectors of slots whose words changed. Returns the slots whose words changed once more. */
  #copyAgain(changed: readonly number[]): readonly number[] {
    const unstable: number[] = [];
    for (const range of rangesOf(changed.map(sectorOf))) this.#copy(range, unstable);
    for (const slot of unstable) {
      this.#newSlots.push(slot);
      this.#unstable.add(slot);
    }
    return unstable;
  }

  /** Copies a sector before any of its slots is tracked, so there are no flags to update. */
  #addSector(sector: number): number {
    const cells = this.#kernel.arena.allocate(SECTOR_BYTES);
    this.#kernel.bytes.fill(0, cells, cells + SECTOR_BYTES);
    this.#cells.set(sector, cells);
    const changed: number[] = [];
    this.#copy({ first: sector, sectors: 1 }, changed);
    this.#copyAgain(changed);
    return cells;
  }

  *#updatingFlags(slots: readonly number[]): Generator<void, void> {
    let updated = 0;
    for (const slot of slots) {
      this.#updateFlags(slot);
      if (++updated % UPDATES_PER_STEP === 0) yield;
    }
  }

  #updateFlags(slot: number): void {
    const flags = this.nodes.flags(slot);
    if (flags === undefined) return;
    const isSynced = this.#hasValue(slot, this.nodes.incarnation(slot));
    const isQueued = isSynced !== ((flags & FLAG.synced) !== 0);
    if (isQueued && (flags & FLAG.queued) === 0) (isSynced ? this.#gained : this.#lost).add(slot);
    // Without its root, a target has nothing to show, so it waits for the root even if the root was removed.
    const isReplaced = this.#isReused(slot) && this.nodes.id(slot) !== this.#root.id;
    const added = (isQueued ? FLAG.queued : 0) | (isReplaced ? FLAG.replaced : 0);
    if ((flags | added) !== flags) this.nodes.setFlags(slot, flags | added);
  }

  #reportNext(queue: FifoQueue<number>, listener: SlotListener): boolean {
    const slot = queue.next();
    if (slot === undefined) return false;
    // Since the report was queued, the node may have been untracked, or the slot may have changed back.
    const node = this.nodes.node(slot);
    if (node === undefined) return true;
    const flags = (this.nodes.flags(slot) ?? 0) & ~FLAG.queued;
    const isSynced = this.#hasValue(slot, node.incarnation);
    this.nodes.setFlags(slot, isSynced ? flags | FLAG.synced : flags & ~FLAG.synced);
    if (isSynced === ((flags & FLAG.synced) !== 0)) return true;
    if (isSynced) listener.synced(node);
    else listener.unsynced(node);
    return true;
  }

  /** Whether the copy of a slot is a value of the node with this incarnation. */
  #hasValue(slot: number, incarnation: number): boolean {
    return this.#word(slot) === syncedWord(incarnation) && !this.#unstable.has(slot);
  }

  /**
   * Whether another node uses the slot now. The word shows this early: a publisher stores it before the record of the
   * new node.
   */
  #isReused(slot: number): boolean {
    const word = this.#word(slot);
    return word > 1 && word >>> 1 !== this.nodes.incarnation(slot);
  }

  /** The copied word of a slot; 0 if its sector was not copied. */
  #word(slot: number): number {
    const cells = this.#cells.get(sectorOf(slot));
    if (cells === undefined) return 0;
    const cell = cells + (slot % SECTOR_SLOTS) * CELL_BYTES;
    return this.#kernel.u32[(cell + CELL_WORD) >>> 2] ?? 0;
  }

  *#reportingChanges(listener: SlotListener): Generator<void, boolean> {
    // Find all changed nodes first, since the listener may add and remove nodes.
    const changed = yield* this.changes.changed();
    for (const node of changed) {
      if (!this.nodes.isTracked(node)) continue;
      if (this.#hasValue(node.slot, node.incarnation)) listener.changed(node);
      // The loss of the value is not reported yet. If the value comes back before the report, its change must still
      // be reported.
      else if (this.nodes.isSynced(node)) this.changes.reportAgain(node);
      yield;
    }
    return changed.length > 0;
  }
}
