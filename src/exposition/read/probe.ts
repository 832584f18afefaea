// Copies the values of one target into the kernel's memory, and tells what got or lost its value.
import type { ManagedObject, SlotRef, Source, Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { Backlog } from './backlog.js';

/** What a probe follows: an object (its state) or a variable (its value). */
export type Tracked = ManagedObject | Variable;

export interface ProbeListener {
  /** The item has a value now; told by `tellSynced`. */
  synced(item: Tracked): void;
  /** The item has no value any more; told by `tellUnsynced`. */
  unsynced(item: Tracked): void;
  /** The slot belongs to another by now, so that the item never has a value again; told by `tellUnsynced`. */
  gone(item: Tracked): void;
  /** The slot of a watched item changed; told by `read`. */
  changed(item: Tracked): void;
}

/** Slots a page: 4 KiB of values, 2 KiB of words. What is tracked is read by pages. */
const PAGE_SLOTS = 512;
const VALUE_BYTES = PAGE_SLOTS * 8;
const WORD_BYTES = PAGE_SLOTS * 4;
const WATCH_BYTES = 16;

/** Pages that lie together in the source and in memory, so that one copy reads them. */
interface Extent {
  readonly firstPage: number;
  /** Pages that there is memory for, and how many of them, from the first on, hold tracked slots. */
  room: number;
  used: number;
  readonly values: number;
  readonly words: number;
}

/** Pages of one extent that are read in one go. */
interface Span {
  readonly firstPage: number;
  pages: number;
  readonly values: number;
  readonly words: number;
}

/** Memory of the kernel that is given back at the end. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
}

interface Entry {
  readonly item: Tracked;
  readonly incarnation: number;
  /** What the listener was told last. */
  isSynced: boolean;
  /** Whether its slot belongs to another by now, and whether the listener was told. */
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
  /** Slots that were tracked since the last read: their words may be in memory already. */
  #fresh: number[] = [];
  #tracked = 0;
  /** Slots whose words moved while their values were copied: they count after the next copy. */
  #late: ReadonlySet<number> = new Set();
  /** Slots whose items got or lost their values, as the listener has still to be told. */
  readonly #got = new Backlog<number>();
  readonly #lost = new Backlog<number>();
  #watches: { at: number; capacity: number };
  readonly #watched: Tracked[] = [];
  readonly #watchOf = new Map<Tracked, number>();
  /** Watched items to be told of at the next read, whatever their slots say. */
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

  /** Follows an item; the listener hears of its value at the next read. */
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
    this.#tracked++;
  }

  /** How many items were tracked since the last copy. */
  get fresh(): number {
    return this.#tracked;
  }

  /** Stops following an item. The listener is not told. */
  untrack(item: Tracked): void {
    if (this.#entries.get(item.slot)?.item === item) this.#entries.delete(item.slot);
  }

  /** The item that is tracked at a slot now. */
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

  /** Whether the listener was told that an item is gone, which it still tracks. */
  isForgotten(item: Tracked): boolean {
    const entry = this.#entries.get(item.slot);
    return entry?.item === item && entry.isForgotten;
  }

  /** Address of the copy of a slot; the slot's page is read from now on. */
  address(slot: number): number {
    const extent = this.#cover(slot);
    return extent.values + (slot - extent.firstPage * PAGE_SLOTS) * 8;
  }

  /** The copied bits of a slot, tracked or not, if its page is read and its word says that it holds. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const extent = this.#extentOfPage.get(Math.floor(slot / PAGE_SLOTS));
    if (extent === undefined) return undefined;
    const word = this.#kernel.u32[(extent.words >>> 2) + slot - extent.firstPage * PAGE_SLOTS];
    return word === syncedWord(incarnation)
      ? this.#kernel.u64[this.address(slot) >>> 3]
      : undefined;
  }

  /** Tells the listener from now on whenever the item's slot changes. */
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

  /** Whether the listener has still to be told of a value that an item got or lost. */
  get hasNews(): boolean {
    return this.#got.size > 0 || this.#lost.size > 0;
  }

  /** Whether it has still to be told of a value that an item lost: its lines show what is not its own. */
  get hasLosses(): boolean {
    return this.#lost.size > 0;
  }

  /**
   * Copies what is tracked, notes what got or lost its value, and tells of what is watched. A value
   * counts when the word of its slot was the expected one both before and after it was copied
   * (docs/segment-format.md, section 9).
   * @returns whether any value differs from the last copy
   */
  read(): boolean {
    this.#forgetSeen();
    const all = this.#extents.map(({ used, ...extent }): Span => ({ ...extent, pages: used }));
    const isChanged = this.#copy(all);
    return this.#tellChanges() > 0 || isChanged;
  }

  /** The same for those pages only that hold something tracked since the last copy; tells nothing. */
  readFresh(): boolean {
    return this.#copy(this.#spansOf(this.#fresh));
  }

  /** Tells the listener of the next item that got its value; false when there is none. */
  tellSynced(): boolean {
    return this.#tellNext(this.#got);
  }

  /** Tells the listener of the next item that lost its value; false when there is none. */
  tellUnsynced(): boolean {
    return this.#tellNext(this.#lost);
  }

  #copy(spans: readonly Span[]): boolean {
    let steps = 0;
    const moved: number[] = [];
    this.#tracked = 0;
    for (const span of spans) {
      steps += this.#readValues(span);
      this.#readWords(span, moved);
    }
    const fresh = this.#fresh;
    // What moved again keeps waiting: its value is older than its word.
    this.#fresh = this.#copyAgain(moved);
    this.#late = new Set(this.#fresh);
    for (const slots of [moved, fresh, this.#fresh]) for (const slot of slots) this.#note(slot);
    return steps > 0 || moved.length > 0 || fresh.length > 0;
  }

  /** Copies the values whose words moved once more, since they may be older than those words. */
  #copyAgain(moved: readonly number[]): number[] {
    const late: number[] = [];
    for (const span of this.#spansOf(moved)) {
      this.#readValues(span);
      this.#readWords(span, late);
    }
    return late;
  }

  /** The pages of these slots; those that lie together are read together. */
  #spansOf(slots: readonly number[]): Span[] {
    const pages = new Set<number>();
    let newest = -1;
    for (const slot of slots) {
      const page = Math.floor(slot / PAGE_SLOTS);
      // Mostly the next slot is of the same page: a set is asked for others only.
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
      // Pages between that hold nothing tracked are not read for those that do.
      if (pages > known.used) return this.#split(known, pages);
      known.used = Math.max(known.used, pages + 1);
      return known;
    }
    // Slots are tracked mostly in order: an extent that follows on reserves twice as much.
    const before = this.#extentOfPage.get(page - 1);
    const wanted = before === undefined ? 1 : before.room * 2;
    let room = 1;
    while (room < wanted && !this.#extentOfPage.has(page + room)) room++;
    const values = this.#takeZeros(room * VALUE_BYTES);
    const words = this.#takeZeros(room * WORD_BYTES);
    return this.#addExtent({ firstPage: page, room, used: 1, values, words });
  }

  /** Makes an extent of what an extent has room for after its first pages. */
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
    // What the source has no more stays as it was.
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
    // Decided now, since a copy is never newer than the item that is tracked at its slot later.
    entry.isGone = true;
    this.#lost.add(slot);
  }

  #tellNext(backlog: Backlog<number>): boolean {
    const slot = backlog.next();
    if (slot === undefined) return false;
    const entry = this.#entries.get(slot);
    // It may belong to another item by now, or have moved back since.
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

  /** Whether the copy of an item's slot is a value of its own. */
  #isLive({ item: { slot }, incarnation }: Entry): boolean {
    return !this.#late.has(slot) && this.#wordAt(slot) === syncedWord(incarnation);
  }

  /** Whether a slot was given away again. A publisher stores the word before the record that needs it. */
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

  #tellChanges(): number {
    const watches = this.#watched.length;
    if (watches === 0) return 0;
    const out = this.#scratchOf(watches * 4);
    const found = this.#kernel.run.changedWatches(this.#watches.at, watches, out);
    const changed = Array.from({ length: found }, (_, i) => this.#kernel.u32[(out >>> 2) + i] ?? 0);
    // Listeners may watch and unwatch meanwhile, so the items are looked up first.
    const affected = changed.map((index) => this.#watched[index]);
    for (const item of affected) {
      const entry = item && this.#entries.get(item.slot);
      if (entry === undefined || entry.item !== item) continue;
      if (this.#isLive(entry)) this.#listener.changed(entry.item);
      // A loss that is still to be told: should the value be back by then, it is told of at last.
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

  /** Moves a watch with its last bits: a change that was not told yet is still told. */
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
