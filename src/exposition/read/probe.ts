// Copies the values of one target into the kernel's memory; reports items that get or lose one.
import type { ManagedObject, SlotRef, Source, Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { Backlog } from './backlog.js';
import { SlotPages, syncedWord } from './slot-pages.js';
import type { Span } from './slot-pages.js';
import { Watches } from './watches.js';

/** What a probe tracks: an object (its state) or a variable (its value). */
export type Tracked = ManagedObject | Variable;

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

interface Entry {
  readonly item: Tracked;
  readonly incarnation: number;
  /** What was last reported to the listener. */
  isSynced: boolean;
  /** Whether another item owns its slot now, and whether the listener knows. */
  isGone: boolean;
  isForgotten: boolean;
}

export class Probe {
  readonly #pages: SlotPages;
  readonly #watches: Watches<Tracked>;
  readonly #listener: ProbeListener;
  readonly #entries = new Map<number, Entry>();
  /** Slots tracked since the last read: their words may be in memory already. */
  #fresh: number[] = [];
  #unread = 0;
  /**
   * Slots whose words changed while their values were copied: they are valid after the next copy.
   */
  #late: ReadonlySet<number> = new Set();
  /** Slots whose items got or lost their values, not yet reported to the listener. */
  readonly #got = new Backlog<number>();
  readonly #lost = new Backlog<number>();

  constructor(kernel: Kernel, source: Source, listener: ProbeListener) {
    this.#pages = new SlotPages(kernel, source);
    this.#watches = new Watches(kernel);
    this.#listener = listener;
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#pages.bytesRead;
  }

  /** Tracks an item; the next read reports its value to the listener. */
  track(item: Tracked): void {
    const { slot, incarnation } = item;
    this.#pages.address(slot);
    this.#entries.set(slot, {
      item,
      incarnation,
      isSynced: false,
      isGone: false,
      isForgotten: false,
    });
    this.#fresh.push(slot);
    this.#unread++;
  }

  /** How many items were tracked since the last copy. */
  get unread(): number {
    return this.#unread;
  }

  /** Stops tracking an item, without a report. */
  untrack(item: Tracked): void {
    if (this.#entries.get(item.slot)?.item === item) this.#entries.delete(item.slot);
  }

  /** The item tracked at a slot now. */
  trackedAt(slot: number): Tracked | undefined {
    return this.#entries.get(slot)?.item;
  }

  isTracked(item: Tracked): boolean {
    return this.#entries.get(item.slot)?.item === item;
  }

  isSynced(item: Tracked): boolean {
    const entry = this.#entries.get(item.slot);
    return entry?.item === item && entry.isSynced;
  }

  /** True if a tracked item was reported as gone. */
  isForgotten(item: Tracked): boolean {
    const entry = this.#entries.get(item.slot);
    return entry?.item === item && entry.isForgotten;
  }

  /** Address of the copy of a slot; the slot's page is read from now on. */
  address(slot: number): number {
    return this.#pages.address(slot);
  }

  /** The copied bits of a slot, tracked or not, if its page is read and it has a value. */
  bits(ref: SlotRef): bigint | undefined {
    return this.#pages.bits(ref);
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
   * True while a lost value is not yet reported: the item's lines show a value that is not its own.
   */
  get hasLosses(): boolean {
    return this.#lost.size > 0;
  }

  /**
   * Copies the tracked slots, notes which items got or lost a value, and reports changes of watched
   * ones. A value is valid if the word of its slot was the expected one both before and after the
   * copy (docs/segment-format.md, section 9).
   * @returns true if any value differs from the last copy
   */
  read(): boolean {
    this.#watches.forget();
    const isChanged = this.#copy(this.#pages.spans);
    return this.#reportChanges() || isChanged;
  }

  /** The same only for pages with slots tracked since the last copy; reports nothing. */
  readFresh(): boolean {
    return this.#copy(this.#pages.spansOf(this.#fresh));
  }

  /** Reports the next item that got its value; false if there is none. */
  reportSynced(): boolean {
    return this.#reportNext(this.#got);
  }

  /** Reports the next item that lost its value; false if there is none. */
  reportUnsynced(): boolean {
    return this.#reportNext(this.#lost);
  }

  #copy(spans: readonly Span[]): boolean {
    let steps = 0;
    const moved: number[] = [];
    this.#unread = 0;
    for (const span of spans) {
      steps += this.#pages.readValues(span);
      this.#pages.readWords(span, moved);
    }
    const fresh = this.#fresh;
    // Slots that changed again keep waiting: their values are older than their words.
    this.#fresh = this.#copyAgain(moved);
    this.#late = new Set(this.#fresh);
    for (const slots of [moved, fresh, this.#fresh]) for (const slot of slots) this.#note(slot);
    return steps > 0 || moved.length > 0 || fresh.length > 0;
  }

  /** Copies the values whose words changed again, since they may be older than those words. */
  #copyAgain(moved: readonly number[]): number[] {
    const late: number[] = [];
    for (const span of this.#pages.spansOf(moved)) {
      this.#pages.readValues(span);
      this.#pages.readWords(span, late);
    }
    return late;
  }

  close(): void {
    this.#pages.close();
    this.#watches.close();
    this.#entries.clear();
    this.#got.clear();
    this.#lost.clear();
  }

  #note(slot: number): void {
    const entry = this.#entries.get(slot);
    if (entry === undefined) return;
    if (this.#isLive(entry) !== entry.isSynced) (entry.isSynced ? this.#lost : this.#got).add(slot);
    if (!this.#hasMovedOn(entry)) return;
    // Decided now, since a copy must not count for an item tracked at the slot later.
    entry.isGone = true;
    this.#lost.add(slot);
  }

  #reportNext(backlog: Backlog<number>): boolean {
    const slot = backlog.next();
    if (slot === undefined) return false;
    const entry = this.#entries.get(slot);
    // Another item may own it now, or it changed back since.
    if (entry === undefined) return true;
    if (this.#isLive(entry) !== entry.isSynced) {
      entry.isSynced = !entry.isSynced;
      if (entry.isSynced) this.#listener.synced(entry.item);
      else this.#listener.unsynced(entry.item);
    }
    if (entry.isGone && !entry.isForgotten) {
      entry.isForgotten = true;
      this.#listener.gone(entry.item);
    }
    return true;
  }

  /** True if the copy of an item's slot is the item's own value. */
  #isLive({ item: { slot }, incarnation }: Entry): boolean {
    return !this.#late.has(slot) && this.#pages.word(slot) === syncedWord(incarnation);
  }

  /** True if a slot was reused. A publisher stores the word before the record that needs it. */
  #hasMovedOn({ item: { slot }, incarnation }: Entry): boolean {
    const word = this.#pages.word(slot);
    return word > 1 && word >>> 1 !== incarnation;
  }

  #reportChanges(): boolean {
    // Listeners may watch and unwatch during the reports, so look up the items first.
    const changed = this.#watches.changed();
    for (const item of changed) {
      const entry = this.#entries.get(item.slot);
      if (entry?.item !== item) continue;
      if (this.#isLive(entry)) this.#listener.changed(item);
      // A loss not yet reported: if the value is back by then, its change is still reported.
      else if (entry.isSynced) this.#watches.again(item);
    }
    return changed.length > 0;
  }
}
