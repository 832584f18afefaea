// Copies the values of one target into the kernel's memory; reports items that get or lose one.
import type { ManagedObject, SlotRef, Source, Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { Backlog } from './backlog.js';

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

/** Slots per page: 4 KiB of values, 2 KiB of words. Tracked slots are read by pages. */
const PAGE_SLOTS = 512;
const VALUE_BYTES = PAGE_SLOTS * 8;
const WORD_BYTES = PAGE_SLOTS * 4;
const WATCH_BYTES = 16;

/** Pages that are contiguous in the source and in memory, so that one copy reads them. */
interface Extent {
  readonly firstPage: number;
  /** Pages with memory, and how many of them, counted from the first, hold tracked slots. */
  room: number;
  used: number;
  readonly values: number;
  readonly words: number;
}

/** Pages of one extent that one copy reads. */
interface Span {
  readonly firstPage: number;
  pages: number;
  readonly values: number;
  readonly words: number;
}

/** Kernel memory, freed at the end. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
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
  readonly #kernel: Kernel;
  readonly #source: Source;
  readonly #listener: ProbeListener;
  readonly #extents: Extent[] = [];
  readonly #extentOfPage = new Map<number, Extent>();
  readonly #pieces: Piece[] = [];
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
  #watches: { at: number; capacity: number };
  readonly #watched: Tracked[] = [];
  readonly #watchOf = new Map<Tracked, number>();
  /** Watched items to report at the next read, whether their slots change or not. */
  readonly #again = new Set<Tracked>();
  #scratch = 0;
  #scratchBytes = 0;
  #bytesRead = 0;

  constructor(kernel: Kernel, source: Source, listener: ProbeListener) {
    this.#kernel = kernel;
    this.#source = source;
    this.#listener = listener;
    this.#watches = { at: kernel.arena.take(64 * WATCH_BYTES), capacity: 64 };
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Tracks an item; the next read reports its value to the listener. */
  track(item: Tracked): void {
    const { slot, incarnation } = item;
    this.#cover(slot);
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
    const extent = this.#cover(slot);
    return extent.values + (slot - extent.firstPage * PAGE_SLOTS) * 8;
  }

  /**
   * The copied bits of a slot, tracked or not, if its page is read and its word says that it has a
   * value.
   */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const extent = this.#extentOfPage.get(Math.floor(slot / PAGE_SLOTS));
    if (extent === undefined) return undefined;
    const word = this.#kernel.u32[(extent.words >>> 2) + slot - extent.firstPage * PAGE_SLOTS];
    return word === syncedWord(incarnation)
      ? this.#kernel.u64[this.address(slot) >>> 3]
      : undefined;
  }

  /** Reports every change of the item's slot from now on. */
  watch(item: Tracked): void {
    if (this.#watchOf.has(item)) return;
    if (this.#watched.length === this.#watches.capacity) this.#growWatches();
    this.#writeWatch(this.#watched.push(item) - 1, item);
  }

  unwatch(item: Tracked): void {
    const index = this.#watchOf.get(item);
    const last = this.#watched.pop();
    if (index === undefined || last === undefined) {
      if (last !== undefined) this.#watched.push(last);
      return;
    }
    this.#watchOf.delete(item);
    if (last !== item) this.#moveWatch(this.#watched.length, index, last);
  }

  /** Reports a watched item again at the next read, whether its slot changes or not. */
  again(item: Tracked): void {
    this.#again.add(item);
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
    this.#forgetSeen();
    const all = this.#extents.map(({ used, ...extent }): Span => ({ ...extent, pages: used }));
    const isChanged = this.#copy(all);
    return this.#reportChanges() > 0 || isChanged;
  }

  /** The same only for pages with slots tracked since the last copy; reports nothing. */
  readFresh(): boolean {
    return this.#copy(this.#spansOf(this.#fresh));
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
      steps += this.#readValues(span);
      this.#readWords(span, moved);
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
    for (const span of this.#spansOf(moved)) {
      this.#readValues(span);
      this.#readWords(span, late);
    }
    return late;
  }

  /** The pages of these slots; contiguous pages are read together. */
  #spansOf(slots: readonly number[]): Span[] {
    const pages = new Set<number>();
    let newest = -1;
    for (const slot of slots) {
      const page = Math.floor(slot / PAGE_SLOTS);
      // Mostly the next slot is on the same page: look up the set for others only.
      if (page !== newest) pages.add((newest = page));
    }
    const spans: Span[] = [];
    let former: Extent | undefined;
    for (const page of [...pages].sort((a, b) => a - b)) {
      const extent = this.#cover(page * PAGE_SLOTS);
      const last = spans.at(-1);
      if (last !== undefined && extent === former && last.firstPage + last.pages === page)
        last.pages++;
      else spans.push(spanAt(extent, page));
      former = extent;
    }
    return spans;
  }

  close(): void {
    const { arena } = this.#kernel;
    for (const { at, bytes } of this.#pieces) arena.give(at, bytes);
    this.#pieces.length = 0;
    this.#extents.length = 0;
    this.#extentOfPage.clear();
    this.#entries.clear();
    this.#got.clear();
    this.#lost.clear();
    if (this.#scratchBytes > 0) arena.give(this.#scratch, this.#scratchBytes);
    this.#scratchBytes = 0;
    this.#watched.length = 0;
    this.#watchOf.clear();
    this.#again.clear();
    arena.give(this.#watches.at, this.#watches.capacity * WATCH_BYTES);
  }

  #cover(slot: number): Extent {
    const page = Math.floor(slot / PAGE_SLOTS);
    const known = this.#extentOfPage.get(page);
    if (known !== undefined) {
      const pages = page - known.firstPage;
      // Pages between them without tracked slots are not read.
      if (pages > known.used) return this.#split(known, pages);
      known.used = Math.max(known.used, pages + 1);
      return known;
    }
    // Slots are tracked mostly in order: an extent that continues another reserves twice as much.
    const before = this.#extentOfPage.get(page - 1);
    const wanted = before === undefined ? 1 : before.room * 2;
    let room = 1;
    while (room < wanted && !this.#extentOfPage.has(page + room)) room++;
    const values = this.#takeZeros(room * VALUE_BYTES);
    const words = this.#takeZeros(room * WORD_BYTES);
    return this.#addExtent({ firstPage: page, room, used: 1, values, words });
  }

  /** Splits an extent: the pages after its first ones become another. */
  #split(extent: Extent, pages: number): Extent {
    const room = extent.room - pages;
    extent.room = pages;
    return this.#addExtent({
      firstPage: extent.firstPage + pages,
      room,
      used: 1,
      values: extent.values + pages * VALUE_BYTES,
      words: extent.words + pages * WORD_BYTES,
    });
  }

  #addExtent(extent: Extent): Extent {
    this.#extents.push(extent);
    for (let i = 0; i < extent.room; i++) this.#extentOfPage.set(extent.firstPage + i, extent);
    return extent;
  }

  #takeZeros(bytes: number): number {
    const { arena } = this.#kernel;
    const at = arena.take(bytes);
    this.#pieces.push({ at, bytes });
    this.#kernel.bytes.fill(0, at, at + bytes);
    return at;
  }

  #readValues({ firstPage, pages, values }: Span): number {
    const bytes = pages * VALUE_BYTES;
    const scratch = this.#scratchOf(bytes);
    const read = this.#source.readSlots(
      firstPage * PAGE_SLOTS,
      pages * PAGE_SLOTS,
      this.#kernel.window(scratch, bytes),
    );
    this.#bytesRead += read * 8;
    // Bytes that the source no longer has keep their last values.
    return this.#kernel.run.absorb(values, scratch, read * 8);
  }

  /** Adds the slots whose words changed to `moved`. */
  #readWords({ firstPage, pages, words }: Span, moved: number[]): void {
    const count = pages * PAGE_SLOTS;
    const scratch = this.#scratchOf(count * 8);
    const window = this.#kernel.window(scratch, count * 4);
    const read = this.#source.readWords(firstPage * PAGE_SLOTS, count, window);
    this.#bytesRead += read * 4;
    const out = scratch + count * 4;
    const found = this.#kernel.run.changedWords(words, scratch, read, out, read);
    const { u32 } = this.#kernel;
    for (let i = 0; i < found; i++)
      moved.push(firstPage * PAGE_SLOTS + (u32[(out >>> 2) + i] ?? 0));
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
    return !this.#late.has(slot) && this.#wordAt(slot) === syncedWord(incarnation);
  }

  /** True if a slot was reused. A publisher stores the word before the record that needs it. */
  #hasMovedOn({ item: { slot }, incarnation }: Entry): boolean {
    const word = this.#wordAt(slot);
    return word > 1 && word >>> 1 !== incarnation;
  }

  /** The copied word of a slot; 0 where its page is not read. */
  #wordAt(slot: number): number {
    const extent = this.#extentOfPage.get(Math.floor(slot / PAGE_SLOTS));
    if (extent === undefined) return 0;
    return this.#kernel.u32[(extent.words >>> 2) + slot - extent.firstPage * PAGE_SLOTS] ?? 0;
  }

  #reportChanges(): number {
    const watches = this.#watched.length;
    if (watches === 0) return 0;
    const out = this.#scratchOf(watches * 4);
    const found = this.#kernel.run.changedWatches(this.#watches.at, watches, out);
    const changed = Array.from({ length: found }, (_, i) => this.#kernel.u32[(out >>> 2) + i] ?? 0);
    // Listeners may watch and unwatch during the reports, so look up the items first.
    const affected = changed.map((index) => this.#watched[index]);
    for (const item of affected) {
      const entry = item && this.#entries.get(item.slot);
      if (entry === undefined || entry.item !== item) continue;
      if (this.#isLive(entry)) this.#listener.changed(entry.item);
      // A loss not yet reported: if the value is back by then, its change is still reported.
      else if (entry.isSynced) this.#again.add(entry.item);
    }
    return found;
  }

  #writeWatch(index: number, item: Tracked): void {
    const address = this.address(item.slot);
    this.#watched[index] = item;
    this.#watchOf.set(item, index);
    const at = this.#watches.at + index * WATCH_BYTES;
    this.#kernel.u32[at >>> 2] = address;
    this.#kernel.u64[(at >>> 3) + 1] = this.#kernel.u64[address >>> 3] ?? 0n;
  }

  /** Moves a watch with its last bits: a change not yet reported still is. */
  #moveWatch(from: number, to: number, item: Tracked): void {
    const { at } = this.#watches;
    this.#watched[to] = item;
    this.#watchOf.set(item, to);
    const source = at + from * WATCH_BYTES;
    this.#kernel.bytes.copyWithin(at + to * WATCH_BYTES, source, source + WATCH_BYTES);
  }

  #forgetSeen(): void {
    const { u64 } = this.#kernel;
    for (const item of this.#again) {
      const index = this.#watchOf.get(item);
      if (index === undefined) continue;
      const seen = ((this.#watches.at + index * WATCH_BYTES) >>> 3) + 1;
      u64[seen] = ~(u64[seen] ?? 0n);
    }
    this.#again.clear();
  }

  #growWatches(): void {
    const { at, capacity } = this.#watches;
    const { arena } = this.#kernel;
    const grown = arena.take(capacity * 2 * WATCH_BYTES);
    this.#kernel.bytes.copyWithin(grown, at, at + capacity * WATCH_BYTES);
    arena.give(at, capacity * WATCH_BYTES);
    this.#watches = { at: grown, capacity: capacity * 2 };
  }

  #scratchOf(bytes: number): number {
    if (bytes <= this.#scratchBytes) return this.#scratch;
    if (this.#scratchBytes > 0) this.#kernel.arena.give(this.#scratch, this.#scratchBytes);
    this.#scratch = this.#kernel.arena.take(bytes);
    this.#scratchBytes = bytes;
    return this.#scratch;
  }
}

const spanAt = ({ firstPage, values, words }: Extent, page: number): Span => ({
  firstPage: page,
  pages: 1,
  values: values + (page - firstPage) * VALUE_BYTES,
  words: words + (page - firstPage) * WORD_BYTES,
});

/** The word of a slot whose variable or object has a value. */
export const syncedWord = (incarnation: number): number => ((incarnation << 1) | 1) >>> 0;
