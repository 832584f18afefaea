// Copies the values of one target into the kernel's memory; reports items that get or lose one.
import { FifoQueue } from '../../collections/by-id.js';
import type { SlotRef, Source } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { FLAG, NO_OWNER, SlotPages, TrackedSlots, syncedWord } from './slots.js';
import type { Region } from './slots.js';
import type { TrackableItem } from './tree-walk.js';
import { CellChangeDetector } from './change-detector.js';

/** How many slots have their flags updated in one step. */
const UPDATES_PER_STEP = 4096;

export interface ProbeListener {
  /** The item got its value; called by `reportSynced`. */
  synced(item: TrackableItem): void;
  /** The item lost its value; called by `reportUnsynced`. */
  unsynced(item: TrackableItem): void;
  /** Another item owns the slot now, so this item never gets a value again; called by `reportUnsynced`. */
  gone(item: TrackableItem): void;
  /** The slot of a watched item changed; called by `read`. */
  changed(item: TrackableItem): void;
}

export class Probe {
  readonly #pages: SlotPages;
  readonly #detector: CellChangeDetector<TrackableItem>;
  readonly #listener: ProbeListener;
  readonly #tracked = new TrackedSlots();
  /** Slots tracked since the last read. Their words may be in kernel memory already. */
  #newSlots: number[] = [];
  #unread = 0;
  /** Slots whose words changed during both copies of a read: their values count after the next read. */
  readonly #unsettled = new Set<number>();
  /** Slots whose items gained or lost a value that the listener has not heard of yet. */
  readonly #gained = new FifoQueue<number>();
  readonly #lost = new FifoQueue<number>();

  constructor(kernel: Kernel, source: Source, listener: ProbeListener) {
    this.#pages = new SlotPages(kernel, source);
    this.#detector = new CellChangeDetector(kernel);
    this.#listener = listener;
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#pages.bytesRead;
  }

  /**
   * Tracks an item. The first item of a page copies that page at once.
   * @returns whether the item has a value now. If so, `synced` is not called for it; if not, a later read reports it.
   */
  track(item: TrackableItem): boolean {
    const { slot, incarnation } = item;
    if (!this.#pages.isRead(slot)) this.#readFirst(slot);
    const isSynced = this.#hasValue(slot, incarnation);
    this.#tracked.set(item, isSynced ? FLAG.synced : 0);
    if (isSynced) return true;
    this.#newSlots.push(slot);
    this.#unread++;
    return false;
  }

  /** How many items were tracked since the last copy. */
  get unread(): number {
    return this.#unread;
  }

  /** Stops tracking an item, without a report. */
  untrack(item: TrackableItem): void {
    if (this.isTracked(item)) this.#tracked.delete(item.slot);
  }

  /** The item tracked at a slot now. */
  trackedAt(slot: number): TrackableItem | undefined {
    return this.#tracked.item(slot);
  }

  /** The id of the item tracked at a slot now; 0 for none. */
  idAt(slot: number): number {
    return this.#tracked.id(slot);
  }

  isTracked({ slot, id }: TrackableItem): boolean {
    return this.#tracked.id(slot) === id;
  }

  isSynced(item: TrackableItem): boolean {
    return this.isTracked(item) && this.#tracked.has(item.slot, FLAG.synced);
  }

  /** Whether `gone` was called for a tracked item. */
  isReportedGone(item: TrackableItem): boolean {
    return this.isTracked(item) && this.#tracked.has(item.slot, FLAG.reportedGone);
  }

  /** Address of the copy of a slot; the slot's page is read from now on. */
  address(slot: number): number {
    return this.#pages.address(slot);
  }

  /** The copied bits of a slot, tracked or not, if its page is read and it has a value. */
  bits(ref: SlotRef): bigint | undefined {
    return this.#isUnsettled(ref.slot) ? undefined : this.#pages.bits(ref);
  }

  /** Reports every change of the item's slot from now on. */
  watch(item: TrackableItem): void {
    this.#detector.add(item, this.address(item.slot));
  }

  unwatch(item: TrackableItem): void {
    this.#detector.remove(item);
  }

  /** Makes the next read report a watched item as changed, whether its slot changes or not. */
  reportAgain(item: TrackableItem): void {
    this.#detector.reportAgain(item);
  }

  /** True while a value that an item got or lost is not yet reported. */
  get hasUnreported(): boolean {
    return this.#gained.size > 0 || this.#lost.size > 0;
  }

  /**
   * Copies the tracked slots, finds the items that gained or lost a value, and reports changes of watched items. A
   * value is valid if its slot had the expected word before and after the copy (docs/segment-format.md, section 9).
   * It works in small steps; until the last one, no other method may be called.
   * @returns whether any value differs from the last copy
   */
  *reading(): Generator<void, boolean> {
    const isChanged = yield* this.#copying(this.#pages.regions);
    return (yield* this.#reportingChanges()) || isChanged;
  }

  /** Copies only the pages with slots tracked since the last copy; reports no changes. */
  readNew(): boolean {
    return resultOf(this.#copying(this.#pages.regionsOf(this.#newSlots)));
  }

  /** Reports the next item that got its value; false if there is none. */
  reportSynced(): boolean {
    return this.#reportNext(false);
  }

  /** Reports the next item that lost its value; false if there is none. */
  reportUnsynced(): boolean {
    return this.#reportNext(true);
  }

  *#copying(regions: readonly Region[]): Generator<void, boolean> {
    const newSlots = this.#newSlots;
    this.#unread = 0;
    // Slots that change again are added anew: their values are older than their words.
    this.#newSlots = [];
    this.#unsettled.clear();
    let isChanged = newSlots.length > 0;
    for (const region of regions) {
      const changed: number[] = [];
      if (this.#pages.read(region, changed)) isChanged = true;
      const unsettled = this.#copyUnsettled(changed);
      // The second copy may find other slots: a value that belongs to another item now is lost at once.
      yield* this.#updatingFlags(changed);
      yield* this.#updatingFlags(unsettled);
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
    this.#copyUnsettled(changed);
  }

  /**
   * Copies again the values whose words changed, since these values may be older than their words. A slot whose
   * word changes once more has no value until the next read.
   * @returns these slots
   */
  #copyUnsettled(changed: readonly number[]): readonly number[] {
    const unsettled: number[] = [];
    if (changed.length === 0) return unsettled;
    for (const region of this.#pages.regionsOf(changed)) this.#pages.read(region, unsettled);
    for (const slot of unsettled) {
      this.#newSlots.push(slot);
      this.#unsettled.add(slot);
    }
    return unsettled;
  }

  close(): void {
    this.#pages.close();
    this.#detector.close();
    this.#tracked.clear();
    this.#gained.clear();
    this.#lost.clear();
  }

  #updateFlags(slot: number): void {
    const flags = this.#tracked.flags(slot);
    if (flags === NO_OWNER) return;
    const isSynced = (flags & FLAG.synced) !== 0;
    if (this.#hasValue(slot, this.#tracked.incarnation(slot)) !== isSynced)
      this.#queueReport(slot, isSynced);
    if (!this.#isReused(slot)) return;
    // The flag is set now: an item that is tracked at the slot later must not inherit it.
    this.#tracked.setFlags(slot, this.#tracked.flags(slot) | FLAG.gone);
    this.#queueReport(slot, true);
  }

  /** Queues a report unless it is queued already. */
  #queueReport(slot: number, isLost: boolean): void {
    const flag = isLost ? FLAG.reportsLost : FLAG.reportsGained;
    const flags = this.#tracked.flags(slot);
    if ((flags & flag) !== 0) return;
    this.#tracked.setFlags(slot, flags | flag);
    (isLost ? this.#lost : this.#gained).add(slot);
  }

  #reportNext(isLost: boolean): boolean {
    const slot = (isLost ? this.#lost : this.#gained).next();
    if (slot === undefined) return false;
    // Since it was queued, the slot may have lost its owner or changed back.
    const flags = this.#tracked.flags(slot);
    if (flags !== NO_OWNER)
      this.#report(slot, flags & ~(isLost ? FLAG.reportsLost : FLAG.reportsGained));
    return true;
  }

  #report(slot: number, flags: number): void {
    const isSynced = this.#hasValue(slot, this.#tracked.incarnation(slot));
    this.#tracked.setFlags(slot, isSynced ? flags | FLAG.synced : flags & ~FLAG.synced);
    if (isSynced !== ((flags & FLAG.synced) !== 0)) {
      const item = this.#tracked.item(slot);
      if (item !== undefined && isSynced) this.#listener.synced(item);
      else if (item !== undefined) this.#listener.unsynced(item);
    }
    if (this.#tracked.has(slot, FLAG.gone)) this.#reportGone(slot);
  }

  #reportGone(slot: number): void {
    const flags = this.#tracked.flags(slot);
    if ((flags & FLAG.reportedGone) !== 0) return;
    this.#tracked.setFlags(slot, flags | FLAG.reportedGone);
    const item = this.#tracked.item(slot);
    if (item !== undefined) this.#listener.gone(item);
  }

  /** Whether the copy of a slot is a value of the item with this incarnation. */
  #hasValue(slot: number, incarnation: number): boolean {
    return this.#pages.word(slot) === syncedWord(incarnation) && !this.#isUnsettled(slot);
  }

  #isUnsettled(slot: number): boolean {
    return this.#unsettled.size > 0 && this.#unsettled.has(slot);
  }

  /** Whether another item uses the slot now. A publisher stores the word before the item's record. */
  #isReused(slot: number): boolean {
    const word = this.#pages.word(slot);
    return word > 1 && word >>> 1 !== this.#tracked.incarnation(slot);
  }

  *#reportingChanges(): Generator<void, boolean> {
    // The listener may watch and unwatch items during the reports.
    const changed = this.#detector.changed();
    for (const item of changed) {
      if (!this.isTracked(item)) continue;
      if (this.#hasValue(item.slot, item.incarnation)) this.#listener.changed(item);
      // Its loss is not reported yet. If the value is back by then, its change must still be reported.
      else if (this.isSynced(item)) this.#detector.reportAgain(item);
      yield;
    }
    return changed.length > 0;
  }
}

/** Runs all steps at once; returns their result. */
function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
