// Copies the values of one target into the kernel's memory; reports items that get or lose one.
import { FifoQueue } from '../../collections/by-id.js';
import type { SlotRef, Source } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { FLAG, NO_OWNER, SlotPages, TrackedSlots, syncedWord } from './slots.js';
import type { Span, Tracked } from './slots.js';
import { Watches } from './watches.js';

/** Slots of which it is noted in one step whether they have values. */
const NOTES_A_STEP = 4096;

export interface ProbeListener {
  /** The item has a value now; called by `reportSynced`. */
  synced(item: Tracked): void;
  /** The item lost its value; called by `reportUnsynced`. */
  unsynced(item: Tracked): void;
  /**
   * Another item owns the slot now, so this one never has a value again; called by
   * `reportUnsynced`.
   */
  gone(item: Tracked): void;
  /** The slot of a watched item changed; called by `read`. */
  changed(item: Tracked): void;
}

export class Probe {
  readonly #pages: SlotPages;
  readonly #watches: Watches<Tracked>;
  readonly #listener: ProbeListener;
  readonly #tracked = new TrackedSlots();
  /** Slots tracked since the last read: their words may be in memory already. */
  #fresh: number[] = [];
  #unread = 0;
  /**
   * Slots whose words changed while their values were copied: they are valid after the next copy.
   */
  readonly #late = new Set<number>();
  /** Slots whose items got or lost their values, not yet reported to the listener. */
  readonly #got = new FifoQueue<number>();
  readonly #lost = new FifoQueue<number>();

  constructor(kernel: Kernel, source: Source, listener: ProbeListener) {
    this.#pages = new SlotPages(kernel, source);
    this.#watches = new Watches(kernel);
    this.#listener = listener;
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#pages.bytesRead;
  }

  /**
   * Tracks an item. A page of which nothing was copied so far is copied at once.
   * @returns whether the item has a value there, of which the listener hears nothing then; else the next read
   * reports it
   */
  track(item: Tracked): boolean {
    const { slot, incarnation } = item;
    if (!this.#pages.isRead(slot)) this.#readFirst(slot);
    const isSynced = this.#isLive(slot, incarnation);
    this.#tracked.set(item, isSynced ? FLAG.synced : 0);
    if (isSynced) return true;
    this.#fresh.push(slot);
    this.#unread++;
    return false;
  }

  /** How many items were tracked since the last copy. */
  get unread(): number {
    return this.#unread;
  }

  /** Stops tracking an item, without a report. */
  untrack(item: Tracked): void {
    if (this.isTracked(item)) this.#tracked.delete(item.slot);
  }

  /** The item tracked at a slot now. */
  trackedAt(slot: number): Tracked | undefined {
    return this.#tracked.item(slot);
  }

  /** The id of the item tracked at a slot now; 0 for none. */
  idAt(slot: number): number {
    return this.#tracked.id(slot);
  }

  isTracked({ slot, id }: Tracked): boolean {
    return this.#tracked.id(slot) === id;
  }

  isSynced(item: Tracked): boolean {
    return this.isTracked(item) && this.#tracked.has(item.slot, FLAG.synced);
  }

  /** True if a tracked item was reported as gone. */
  isForgotten(item: Tracked): boolean {
    return this.isTracked(item) && this.#tracked.has(item.slot, FLAG.forgotten);
  }

  /** Address of the copy of a slot; the slot's page is read from now on. */
  address(slot: number): number {
    return this.#pages.address(slot);
  }

  /** The copied bits of a slot, tracked or not, if its page is read and it has a value. */
  bits(ref: SlotRef): bigint | undefined {
    return this.#isLate(ref.slot) ? undefined : this.#pages.bits(ref);
  }

  /** Reports every change of the item's slot from now on. */
  watch(item: Tracked): void {
    this.#watches.add(item, this.address(item.slot));
  }

  unwatch(item: Tracked): void {
    this.#watches.remove(item);
  }

  /** Reports a watched item again at the next read, whether its slot changes or not. */
  again(item: Tracked): void {
    this.#watches.again(item);
  }

  /** True while a value that an item got or lost is not yet reported. */
  get hasUnreported(): boolean {
    return this.#got.size > 0 || this.#lost.size > 0;
  }

  /**
   * Copies the tracked slots, notes which items got or lost a value, and reports changes of watched
   * ones. A value is valid if the word of its slot was the expected one both before and after the
   * copy (docs/segment-format.md, section 9). In small steps, before the last of which nothing else
   * may be done with the probe.
   * @returns true if any value differs from the last copy
   */
  *reading(): Generator<void, boolean> {
    this.#watches.forget();
    const isChanged = yield* this.#copying(this.#pages.spans);
    return (yield* this.#reportingChanges()) || isChanged;
  }

  /** The same only for pages with slots tracked since the last copy; reports nothing. */
  readFresh(): boolean {
    return last(this.#copying(this.#pages.spansOf(this.#fresh)));
  }

  /** Reports the next item that got its value; false if there is none. */
  reportSynced(): boolean {
    return this.#reportNext(false);
  }

  /** Reports the next item that lost its value; false if there is none. */
  reportUnsynced(): boolean {
    return this.#reportNext(true);
  }

  *#copying(spans: readonly Span[]): Generator<void, boolean> {
    const fresh = this.#fresh;
    this.#unread = 0;
    // Those that change again keep waiting: their values are older than their words.
    this.#fresh = [];
    this.#late.clear();
    let isChanged = fresh.length > 0;
    for (const span of spans) {
      const moved: number[] = [];
      if (this.#pages.read(span, moved)) isChanged = true;
      const late = this.#copyAgain(moved);
      // Some of the latter did not move before: a value that belongs to another item now is lost at once.
      yield* this.#noting(moved);
      yield* this.#noting(late);
      yield;
    }
    yield* this.#noting(fresh);
    return isChanged;
  }

  *#noting(slots: readonly number[]): Generator<void, void> {
    let noted = 0;
    for (const slot of slots) {
      this.#note(slot);
      if (++noted % NOTES_A_STEP === 0) yield;
    }
  }

  /** Copies a page of which nothing is tracked, so that nothing is to be noted of it. */
  #readFirst(slot: number): void {
    const moved: number[] = [];
    this.#pages.readFirst(slot, moved);
    this.#copyAgain(moved);
  }

  /**
   * Copies the values whose words changed again, since they may be older than those words. What changes once
   * more has no value before the next read, which notes it again.
   * @returns the slots of that
   */
  #copyAgain(moved: readonly number[]): readonly number[] {
    const late: number[] = [];
    if (moved.length === 0) return late;
    for (const span of this.#pages.spansOf(moved)) this.#pages.read(span, late);
    for (const slot of late) {
      this.#fresh.push(slot);
      this.#late.add(slot);
    }
    return late;
  }

  close(): void {
    this.#pages.close();
    this.#watches.close();
    this.#tracked.clear();
    this.#got.clear();
    this.#lost.clear();
  }

  #note(slot: number): void {
    const flags = this.#tracked.flags(slot);
    if (flags === NO_OWNER) return;
    const isSynced = (flags & FLAG.synced) !== 0;
    if (this.#isLive(slot, this.#tracked.incarnation(slot)) !== isSynced)
      this.#await(slot, isSynced);
    if (!this.#hasMovedOn(slot)) return;
    // Decided now, since a copy must not count for an item tracked at the slot later.
    this.#tracked.setFlags(slot, this.#tracked.flags(slot) | FLAG.gone);
    this.#await(slot, true);
  }

  /** Queues a report, once. */
  #await(slot: number, isLost: boolean): void {
    const flag = isLost ? FLAG.awaitsLost : FLAG.awaitsGot;
    const flags = this.#tracked.flags(slot);
    if ((flags & flag) !== 0) return;
    this.#tracked.setFlags(slot, flags | flag);
    (isLost ? this.#lost : this.#got).add(slot);
  }

  #reportNext(isLost: boolean): boolean {
    const slot = (isLost ? this.#lost : this.#got).next();
    if (slot === undefined) return false;
    // Another item may own it now, or it changed back since.
    const flags = this.#tracked.flags(slot);
    if (flags !== NO_OWNER)
      this.#report(slot, flags & ~(isLost ? FLAG.awaitsLost : FLAG.awaitsGot));
    return true;
  }

  #report(slot: number, flags: number): void {
    const isSynced = this.#isLive(slot, this.#tracked.incarnation(slot));
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
    if ((flags & FLAG.forgotten) !== 0) return;
    this.#tracked.setFlags(slot, flags | FLAG.forgotten);
    const item = this.#tracked.item(slot);
    if (item !== undefined) this.#listener.gone(item);
  }

  /** True if the copy of a slot is the value of the item with that incarnation. */
  #isLive(slot: number, incarnation: number): boolean {
    return this.#pages.word(slot) === syncedWord(incarnation) && !this.#isLate(slot);
  }

  #isLate(slot: number): boolean {
    return this.#late.size > 0 && this.#late.has(slot);
  }

  /** True if a slot was reused. A publisher stores the word before the record that needs it. */
  #hasMovedOn(slot: number): boolean {
    const word = this.#pages.word(slot);
    return word > 1 && word >>> 1 !== this.#tracked.incarnation(slot);
  }

  *#reportingChanges(): Generator<void, boolean> {
    // Listeners may watch and unwatch during the reports, so look up the items first.
    const changed = this.#watches.changed();
    for (const item of changed) {
      if (!this.isTracked(item)) continue;
      if (this.#isLive(item.slot, item.incarnation)) this.#listener.changed(item);
      // A loss not yet reported: if the value is back by then, its change is still reported.
      else if (this.isSynced(item)) this.#watches.again(item);
      yield;
    }
    return changed.length > 0;
  }
}

/** What the steps end with, all of them taken at once. */
function last<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
