// Copies the values of one target into the kernel's memory, and reports nodes that gain or lose their value.
import { FifoQueue } from '../../collections/by-id.js';
import type { ManagedObject, SlotRef, Source } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { CellChangeDetector } from './change-detector.js';
import { SlotPages, syncedWord } from './slot-pages.js';
import type { PageRange } from './slot-pages.js';
import { FLAG, NO_NODE, TrackedNodes } from './tracked-nodes.js';
import type { TreeNode } from './tree-walk.js';

/** How many slots have their flags updated in one step. */
const UPDATES_PER_STEP = 4096;

export interface SlotListener {
  /** The node got its value; called by `reportSynced`. */
  synced(node: TreeNode): void;
  /** The node lost its value; called by `reportUnsynced`. */
  unsynced(node: TreeNode): void;
  /** The slot of a node changed after `reportChangesOf`; called by `reading`. */
  changed(node: TreeNode): void;
}

export class SlotReader {
  readonly nodes = new TrackedNodes();
  readonly #pages: SlotPages;
  readonly #detector: CellChangeDetector<TreeNode>;
  readonly #root: Pick<ManagedObject, 'id'>;
  /** Slots tracked since the last read. Their words may be in the kernel's memory already. */
  #newSlots: number[] = [];
  #newNodes = 0;
  /** Slots whose words changed during both copies of a read. Their values are not used before the next read. */
  readonly #unstable = new Set<number>();
  /** Slots of nodes that gained or lost their value. The gain or loss is not yet reported to the listener. */
  readonly #gained = new FifoQueue<number>();
  readonly #lost = new FifoQueue<number>();

  /** @param root the reader awaits its value even if another node uses its slot */
  constructor(kernel: Kernel, source: Source, root: Pick<ManagedObject, 'id'>) {
    this.#root = root;
    this.#pages = new SlotPages(kernel, source);
    this.#detector = new CellChangeDetector(kernel);
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#pages.bytesRead;
  }

  /**
   * Tracks a node. If it is the first node on its page of slots, copies the page at once.
   * @returns whether the node has a value now. If so, `synced` is not called for it; otherwise a later read reports
   *   the value.
   */
  track(node: TreeNode): boolean {
    const { slot, incarnation } = node;
    if (!this.#pages.isRead(slot)) this.#readFirst(slot);
    const isSynced = this.#hasValue(slot, incarnation);
    this.nodes.set(node, isSynced ? FLAG.synced : 0);
    if (isSynced) return true;
    this.#newSlots.push(slot);
    this.#newNodes++;
    return false;
  }

  /** The number of nodes that were added since the last copy. */
  get newNodes(): number {
    return this.#newNodes;
  }

  /** Stops tracking a node, without a call of the listener. */
  untrack(node: TreeNode): void {
    if (this.nodes.isTracked(node)) this.nodes.delete(node.slot);
  }

  /** The address of the copy of a slot. Later reads include the slot's page. */
  address(slot: number): number {
    return this.#pages.address(slot);
  }

  /** The copied bits of a slot, tracked or not; undefined if its page was not copied or the slot has no value. */
  bits(ref: SlotRef): bigint | undefined {
    return this.#isUnstable(ref.slot) ? undefined : this.#pages.bits(ref);
  }

  /** The bits that a slot has in the source now, if it has a value. Leaves the copy unchanged. */
  readBits(ref: SlotRef): bigint | undefined {
    return this.#pages.readBits(ref);
  }

  /** Reports every change of the node's slot from now on. */
  reportChangesOf(node: TreeNode): void {
    this.#detector.add(node, this.address(node.slot));
  }

  ignoreChangesOf(node: TreeNode): void {
    this.#detector.remove(node);
  }

  /** Makes the next read report a node as changed, even if its slot does not change. */
  reportAgain(node: TreeNode): void {
    this.#detector.reportAgain(node);
  }

  /** Whether any gain or loss of a value is not yet reported. */
  get hasUnreported(): boolean {
    return this.#gained.size > 0 || this.#lost.size > 0;
  }

  /**
   * Copies the tracked slots, finds the nodes that gained or lost a value, and reports changes. A
   * value is valid if its slot had the expected word before and after the copy (docs/segment-format.md, section 9).
   * The work takes small steps; until the last step, no other method may be called.
   * @returns whether any value differs from the last copy
   */
  *reading(listener: SlotListener): Generator<void, boolean> {
    const isChanged = yield* this.#copying(this.#pages.ranges);
    return (yield* this.#reportingChanges(listener)) || isChanged;
  }

  /** Copies only the pages with slots tracked since the last copy; reports no changes. */
  readNew(): boolean {
    return resultOf(this.#copying(this.#pages.rangesOf(this.#newSlots)));
  }

  /** Reports the next node that got its value; false if there is none. */
  reportSynced(listener: SlotListener): boolean {
    return this.#reportNext(listener, false);
  }

  /** Reports the next node that lost its value; false if there is none. */
  reportUnsynced(listener: SlotListener): boolean {
    return this.#reportNext(listener, true);
  }

  *#copying(ranges: readonly PageRange[]): Generator<void, boolean> {
    const newSlots = this.#newSlots;
    this.#newNodes = 0;
    // If the word of a slot changes once more, `#copyAgain` adds the slot to `#newSlots` and `#unstable` again, since
    // its value may be older than its word.
    this.#newSlots = [];
    this.#unstable.clear();
    let isChanged = newSlots.length > 0;
    for (const range of ranges) {
      const changed: number[] = [];
      if (this.#pages.read(range, changed)) isChanged = true;
      const unstable = this.#copyAgain(changed);
      // The second copy may find changed words of further slots. Their nodes lose their values at once, since a value
      // may belong to another node now.
      yield* this.#updatingFlags(changed);
      yield* this.#updatingFlags(unstable);
      yield;
    }
    yield* this.#updatingFlags(newSlots);
    return isChanged;
  }

  *#updatingFlags(slots: readonly number[]): Generator<void, void> {
    let updated = 0;
    for (const slot of slots) {
      this.#updateFlags(slot);
      if (++updated % UPDATES_PER_STEP === 0) yield;
    }
  }

  /** Copies a page before any of its slots is tracked, so there are no flags to update. */
  #readFirst(slot: number): void {
    const changed: number[] = [];
    this.#pages.readFirst(slot, changed);
    this.#copyAgain(changed);
  }

  /**
   * Copies values again if their words changed, since the values may be older than the words. If the word of a slot
   * changes once more, the slot has no value until the next read.
   * @returns the slots whose words changed once more
   */
  #copyAgain(changed: readonly number[]): readonly number[] {
    const unstable: number[] = [];
    if (changed.length === 0) return unstable;
    for (const range of this.#pages.rangesOf(changed)) this.#pages.read(range, unstable);
    for (const slot of unstable) {
      this.#newSlots.push(slot);
      this.#unstable.add(slot);
    }
    return unstable;
  }

  close(): void {
    this.#pages.close();
    this.#detector.close();
    this.nodes.clear();
    this.#gained.clear();
    this.#lost.clear();
  }

  #updateFlags(slot: number): void {
    const flags = this.nodes.flags(slot);
    if (flags === NO_NODE) return;
    const isSynced = (flags & FLAG.synced) !== 0;
    if (this.#hasValue(slot, this.nodes.incarnation(slot)) !== isSynced)
      this.#queueReport(slot, isSynced);
    // Without its root, a target has nothing to show, so it waits for the root even if the root was removed.
    if (this.#isReused(slot) && this.nodes.id(slot) !== this.#root.id)
      this.nodes.setFlags(slot, this.nodes.flags(slot) | FLAG.replaced);
  }

  /** Queues a report unless it is queued already. */
  #queueReport(slot: number, isLost: boolean): void {
    const flag = isLost ? FLAG.reportsLost : FLAG.reportsGained;
    const flags = this.nodes.flags(slot);
    if ((flags & flag) !== 0) return;
    this.nodes.setFlags(slot, flags | flag);
    (isLost ? this.#lost : this.#gained).add(slot);
  }

  #reportNext(listener: SlotListener, isLost: boolean): boolean {
    const slot = (isLost ? this.#lost : this.#gained).next();
    if (slot === undefined) return false;
    // Since the report was queued, the node may have been untracked, or the slot may have changed back.
    const former = this.nodes.flags(slot);
    if (former === NO_NODE) return true;
    const flags = former & ~(isLost ? FLAG.reportsLost : FLAG.reportsGained);
    const isSynced = this.#hasValue(slot, this.nodes.incarnation(slot));
    this.nodes.setFlags(slot, isSynced ? flags | FLAG.synced : flags & ~FLAG.synced);
    const node = this.nodes.node(slot);
    if (node === undefined || isSynced === ((flags & FLAG.synced) !== 0)) return true;
    if (isSynced) listener.synced(node);
    else listener.unsynced(node);
    return true;
  }

  /** Whether the copy of a slot is a value of the node with this incarnation. */
  #hasValue(slot: number, incarnation: number): boolean {
    return this.#pages.word(slot) === syncedWord(incarnation) && !this.#isUnstable(slot);
  }

  #isUnstable(slot: number): boolean {
    return this.#unstable.size > 0 && this.#unstable.has(slot);
  }

  /**
   * Whether another node uses the slot now. The word shows this early: a publisher stores it before the record of the
   * new node.
   */
  #isReused(slot: number): boolean {
    const word = this.#pages.word(slot);
    return word > 1 && word >>> 1 !== this.nodes.incarnation(slot);
  }

  *#reportingChanges(listener: SlotListener): Generator<void, boolean> {
    // Find all changed nodes first, since the listener may call reportChangesOf and ignoreChangesOf.
    const changed = yield* this.#detector.changed();
    for (const node of changed) {
      if (!this.nodes.isTracked(node)) continue;
      if (this.#hasValue(node.slot, node.incarnation)) listener.changed(node);
      // The loss of the value is not reported yet. If the value comes back before the report, its change must still
      // be reported.
      else if (this.nodes.isSynced(node)) this.#detector.reportAgain(node);
      yield;
    }
    return changed.length > 0;
  }
}

/** Runs all steps without a pause; returns their result. */
function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
