// The slots that a probe tracks, by pages: copies of their values and words in kernel memory, and their owners.
import { ColumnVariable } from '../../collections/column-variable.js';
import type { Declaration, ManagedObject, SlotRef, Source, Variable } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { CELL_BYTES, MOVED_AT } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';

/** Slots per page: 4 KiB of values and 2 KiB of words in the source, 8 KiB of cells here. */
const PAGE_SLOTS = 512;
const PAGE_BYTES = PAGE_SLOTS * CELL_BYTES;
/** What one read copies at most: few enough to stay in the cache until they are compared. */
const READ_PAGES = 64;
/** How many pages an extent has at most, and how much larger it is than the one that it continues. */
const EXTENT_PAGES = 16;
const GROWTH = 4;
/** Of a slot, its value, its word and, if that differs, its index. */
const SCRATCH_BYTES = 8 + 4 + 4;
/** Where a cell has its word, in 4-byte units. */
const WORD = 2;

/** Pages that are contiguous in the source and in memory. */
interface Extent {
  readonly firstPage: number;
  /** Pages with memory, and how many of them, counted from the first, hold tracked slots. */
  room: number;
  used: number;
  readonly cells: number;
}

/** Pages that are contiguous in memory. */
interface Run {
  pages: number;
  readonly cells: number;
}

/** Pages that are contiguous in the source, so that one copy reads them: runs of them, in their order. */
export interface Span {
  readonly firstPage: number;
  pages: number;
  readonly runs: Run[];
}

/** Kernel memory, freed at the end. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
}

export class SlotPages {
  readonly #kernel: Kernel;
  readonly #source: Source;
  readonly #scratch: Scratch;
  readonly #extents: Extent[] = [];
  readonly #extentOfPage = new Map<number, Extent>();
  /** The page that was asked for last, mostly the next one too, and its extent. */
  #lastPage = -1;
  #last: Extent | undefined;
  readonly #pieces: Piece[] = [];
  /** Pages that `readFirst` copied, and the one that was asked for last. */
  readonly #read = new Set<number>();
  #lastRead = -1;
  #bytesRead = 0;

  constructor(kernel: Kernel, source: Source) {
    this.#kernel = kernel;
    this.#source = source;
    this.#scratch = new Scratch(kernel);
  }

  /** Bytes of values and words that were copied so far. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Address of a slot's cell; the slot's page is read from now on. */
  address(slot: number): number {
    const extent = this.#cover(slot);
    return extent.cells + (slot - extent.firstPage * PAGE_SLOTS) * CELL_BYTES;
  }

  /** Whether the page of a slot was copied by `readFirst`. */
  isRead(slot: number): boolean {
    const page = Math.floor(slot / PAGE_SLOTS);
    if (page === this.#lastRead) return true;
    if (!this.#read.has(page)) return false;
    this.#lastRead = page;
    return true;
  }

  /** Copies the page of a slot, which is read from now on; see `read`. */
  readFirst(slot: number, moved: number[]): void {
    const page = Math.floor(slot / PAGE_SLOTS);
    const { firstPage, cells } = this.#cover(slot);
    const runs = [{ pages: 1, cells: cells + (page - firstPage) * PAGE_BYTES }];
    this.read({ firstPage: page, pages: 1, runs }, moved);
    this.#read.add(page);
  }

  /** The copied word of a slot; 0 where its page is not read. */
  word(slot: number): number {
    const extent = this.#extentOf(Math.floor(slot / PAGE_SLOTS));
    if (extent === undefined) return 0;
    const cell = extent.cells + (slot - extent.firstPage * PAGE_SLOTS) * CELL_BYTES;
    return this.#kernel.u32[(cell >>> 2) + WORD] ?? 0;
  }

  /** The copied bits of a slot, if its page is read and its word says that it has a value. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    return this.word(slot) === syncedWord(incarnation)
      ? this.#kernel.u64[this.address(slot) >>> 3]
      : undefined;
  }

  /** All pages that are read, in spans of one copy each. */
  get spans(): Span[] {
    const spans: Span[] = [];
    for (const { firstPage, used, cells } of this.#extents) extend(spans, firstPage, used, cells);
    return spans;
  }

  /** The pages of these slots; contiguous pages are read together. */
  spansOf(slots: readonly number[]): Span[] {
    const pages = new Set<number>();
    let newest = -1;
    for (const slot of slots) {
      const page = Math.floor(slot / PAGE_SLOTS);
      // Mostly the next slot is on the same page: look up the set for others only.
      if (page !== newest) pages.add((newest = page));
    }
    const spans: Span[] = [];
    for (const page of [...pages].sort((a, b) => a - b)) {
      const { firstPage, cells } = this.#cover(page * PAGE_SLOTS);
      extend(spans, page, 1, cells + (page - firstPage) * PAGE_BYTES);
    }
    return spans;
  }

  /**
   * Copies the values of these pages and then their words, and adds the slots whose words differ from the last
   * copy to `moved`; true if any value or word does.
   */
  read({ firstPage, pages, runs }: Span, moved: number[]): boolean {
    const slots = pages * PAGE_SLOTS;
    const first = firstPage * PAGE_SLOTS;
    const values = this.#scratch.of(slots * SCRATCH_BYTES);
    const words = values + slots * 8;
    const out = words + slots * 4;
    const valuesRead = this.#source.readSlots(first, slots, this.#kernel.window(values, slots * 8));
    const wordsRead = this.#source.readWords(first, slots, this.#kernel.window(words, slots * 4));
    this.#bytesRead += valuesRead * 8 + wordsRead * 4;
    // What the source no longer has keeps its last values.
    let left = Math.min(valuesRead, wordsRead);
    let at = 0;
    let changed = 0;
    const { run, u32 } = this.#kernel;
    for (const { pages: some, cells } of runs) {
      const count = Math.min(some * PAGE_SLOTS, left);
      changed += run.absorb(cells, values + at * 8, words + at * 4, count, out);
      const found = u32[MOVED_AT >>> 2] ?? 0;
      for (let i = 0; i < found; i++) moved.push(first + at + (u32[(out >>> 2) + i] ?? 0));
      at += count;
      left -= count;
    }
    return changed > 0;
  }

  close(): void {
    for (const { at, bytes } of this.#pieces) this.#kernel.arena.free(at, bytes);
    this.#pieces.length = 0;
    this.#extents.length = 0;
    this.#extentOfPage.clear();
    this.#lastPage = this.#lastRead = -1;
    this.#last = undefined;
    this.#read.clear();
    this.#scratch.close();
  }

  #extentOf(page: number): Extent | undefined {
    if (page === this.#lastPage) return this.#last;
    this.#lastPage = page;
    return (this.#last = this.#extentOfPage.get(page));
  }

  #cover(slot: number): Extent {
    const page = Math.floor(slot / PAGE_SLOTS);
    const known = this.#extentOf(page);
    if (known !== undefined) {
      const pages = page - known.firstPage;
      // Pages between them without tracked slots are not read.
      if (pages > known.used) return this.#split(known, pages);
      known.used = Math.max(known.used, pages + 1);
      return known;
    }
    // Slots are tracked mostly in order: an extent that continues another reserves more.
    const before = this.#extentOfPage.get(page - 1);
    const wanted = before === undefined ? 1 : Math.min(before.room * GROWTH, EXTENT_PAGES);
    let room = 1;
    while (room < wanted && !this.#extentOfPage.has(page + room)) room++;
    const cells = this.#takeZeros(room * PAGE_BYTES);
    return this.#addExtent({ firstPage: page, room, used: 1, cells });
  }

  /** Splits an extent: the pages after its first ones become another. */
  #split(extent: Extent, pages: number): Extent {
    const room = extent.room - pages;
    extent.room = pages;
    return this.#addExtent({
      firstPage: extent.firstPage + pages,
      room,
      used: 1,
      cells: extent.cells + pages * PAGE_BYTES,
    });
  }

  #addExtent(extent: Extent): Extent {
    this.#extents.push(extent);
    this.#lastPage = -1;
    for (let i = 0; i < extent.room; i++) this.#extentOfPage.set(extent.firstPage + i, extent);
    return extent;
  }

  #takeZeros(bytes: number): number {
    const at = this.#kernel.arena.allocateZeroed(bytes, (from, to) => {
      this.#kernel.bytes.fill(0, from, to);
    });
    this.#pieces.push({ at, bytes });
    return at;
  }
}

/** Adds pages to the last span where they go on in the source, and to its last run where they do so in memory. */
function extend(spans: Span[], firstPage: number, pages: number, cells: number): void {
  const last = spans.at(-1);
  const goesOn = last !== undefined && last.firstPage + last.pages === firstPage;
  if (!goesOn || last.pages + pages > READ_PAGES) {
    spans.push({ firstPage, pages, runs: [{ pages, cells }] });
    return;
  }
  last.pages += pages;
  const run = last.runs.at(-1);
  if (run !== undefined && run.cells + run.pages * PAGE_BYTES === cells) run.pages += pages;
  else last.runs.push({ pages, cells });
}

/** The word of a slot whose variable or object has a value. */
export const syncedWord = (incarnation: number): number => ((incarnation << 1) | 1) >>> 0;

/** What a probe tracks: an object (its state) or a variable (its value). */
export type Tracked = ManagedObject | Variable;

/** What is known of an item. */
export const FLAG = {
  /** It has a value, as was last reported. */
  synced: 1,
  /** Another item owns its slot now. */
  gone: 2,
  /** That was reported. */
  forgotten: 4,
  /** A value that it got waits to be reported, and one that it lost. */
  awaitsGot: 8,
  awaitsLost: 16,
} as const;

/** Instead of flags: the slot has no owner. */
export const NO_OWNER = -1;

interface Page {
  readonly number: number;
  /** Slots with an owner. */
  count: number;
  /** 0 for none. */
  readonly ids: Float64Array;
  readonly incarnations: Uint32Array;
  readonly flags: Uint8Array;
  /** Each item, or the object of the variable. */
  readonly objects: (ManagedObject | undefined)[];
  /** Undefined for objects. */
  readonly declarations: (Declaration | undefined)[];
}

export class TrackedSlots {
  readonly #pages = new Map<number, Page>();
  /** The page that was asked for last: mostly the next one too. */
  #last: Page | undefined;

  /** Makes an item the owner of its slot; `flags` are what is known of it. */
  set(item: Tracked, flags: number): void {
    const { slot, id, incarnation } = item;
    const page = this.#pageOf(slot) ?? this.#addPage(Math.floor(slot / PAGE_SLOTS));
    const at = slot % PAGE_SLOTS;
    if (page.ids[at] === 0) page.count++;
    page.ids[at] = id;
    page.incarnations[at] = incarnation;
    page.flags[at] = flags;
    const isVariable = 'object' in item;
    page.objects[at] = isVariable ? item.object : item;
    page.declarations[at] = isVariable ? item.declaration : undefined;
  }

  delete(slot: number): void {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    if (page === undefined || page.ids[at] === 0) return;
    page.ids[at] = 0;
    page.objects[at] = page.declarations[at] = undefined;
    if (--page.count > 0) return;
    this.#pages.delete(page.number);
    this.#last = undefined;
  }

  /** The id of the owner of a slot; 0 if it has none. */
  id(slot: number): number {
    return this.#pageOf(slot)?.ids[slot % PAGE_SLOTS] ?? 0;
  }

  /** That of the owner's value; 0 for none. */
  incarnation(slot: number): number {
    return this.#pageOf(slot)?.incarnations[slot % PAGE_SLOTS] ?? 0;
  }

  /** What is known of the owner of a slot, or `NO_OWNER`. */
  flags(slot: number): number {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    return page === undefined || page.ids[at] === 0 ? NO_OWNER : (page.flags[at] ?? 0);
  }

  /** Of a slot that has an owner. */
  setFlags(slot: number, flags: number): void {
    const page = this.#pageOf(slot);
    if (page !== undefined) page.flags[slot % PAGE_SLOTS] = flags;
  }

  has(slot: number, flag: number): boolean {
    const flags = this.flags(slot);
    return flags !== NO_OWNER && (flags & flag) !== 0;
  }

  /** The owner of a slot. */
  item(slot: number): Tracked | undefined {
    const page = this.#pageOf(slot);
    const at = slot % PAGE_SLOTS;
    const object = page?.objects[at];
    const declaration = page?.declarations[at];
    if (page === undefined || object === undefined || declaration === undefined) return object;
    const id = page.ids[at] ?? 0;
    return new ColumnVariable(object, id, slot, page.incarnations[at] ?? 0, declaration);
  }

  clear(): void {
    this.#pages.clear();
    this.#last = undefined;
  }

  #pageOf(slot: number): Page | undefined {
    const number = Math.floor(slot / PAGE_SLOTS);
    if (this.#last?.number === number) return this.#last;
    const page = this.#pages.get(number);
    if (page !== undefined) this.#last = page;
    return page;
  }

  #addPage(number: number): Page {
    const page: Page = {
      number,
      count: 0,
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
