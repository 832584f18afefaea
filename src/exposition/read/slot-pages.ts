// Copies pages of slots, with their values and words, into cells in the kernel's memory.
import type { SlotRef, Source } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { CELL_BYTES, CELL_WORD, CHANGED_WORDS_AT } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';

/** The slots of a page: 4 KiB of values and 2 KiB of words in the source, 8 KiB of cells here. */
export const PAGE_SLOTS = 512;
const PAGE_BYTES = PAGE_SLOTS * CELL_BYTES;
/** The maximum number of pages of one copy: few enough to stay in the processor's cache until they are compared. */
const MAX_RANGE_PAGES = 64;
/** An extent that continues another one reserves `GROWTH_FACTOR` times as many pages, at most `EXTENT_PAGES`. */
const EXTENT_PAGES = 16;
const GROWTH_FACTOR = 4;
/** For each slot of a copy: its value, its word, and its index if the word changed. */
const SCRATCH_BYTES = 8 + 4 + 4;

/** Pages that are contiguous both in the source and in the kernel's memory. */
interface PageExtent {
  readonly firstPage: number;
  /** The number of pages for which memory is allocated. The first `used` of them hold tracked slots. */
  capacity: number;
  used: number;
  readonly cells: number;
}

/** Pages whose cells are contiguous in the kernel's memory. */
interface CellRun {
  pages: number;
  readonly cells: number;
}

/** Pages that are contiguous in the source, so that one copy reads them. `runs` has their cells, in the same order. */
export interface PageRange {
  readonly firstPage: number;
  pages: number;
  readonly runs: CellRun[];
}

interface Allocation {
  readonly at: number;
  readonly bytes: number;
}

export class SlotPages {
  readonly #kernel: Kernel;
  readonly #source: Source;
  readonly #scratch: Scratch;
  readonly #extents: PageExtent[] = [];
  readonly #extentOfPage = new Map<number, PageExtent>();
  /** The page of the last lookup and its extent: the next lookup is usually for the same page. */
  #lastPage = -1;
  #last: PageExtent | undefined;
  readonly #allocations: Allocation[] = [];
  /** The pages that `readFirst` has copied. */
  readonly #read = new Set<number>();
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

  /** The address of a slot's cell. Later reads include the slot's page. */
  address(slot: number): number {
    const extent = this.#extentFor(slot);
    return extent.cells + (slot - extent.firstPage * PAGE_SLOTS) * CELL_BYTES;
  }

  /** Whether the page of a slot was copied by `readFirst`. */
  isRead(slot: number): boolean {
    return this.#read.has(Math.floor(slot / PAGE_SLOTS));
  }

  /** Copies the page of a slot for the first time; later copies include it. See `read`. */
  readFirst(slot: number, changedSlots: number[]): void {
    const page = Math.floor(slot / PAGE_SLOTS);
    const { firstPage, cells } = this.#extentFor(slot);
    const runs = [{ pages: 1, cells: cells + (page - firstPage) * PAGE_BYTES }];
    this.read({ firstPage: page, pages: 1, runs }, changedSlots);
    this.#read.add(page);
  }

  /** The copied word of a slot; 0 if its page is not read. */
  word(slot: number): number {
    const extent = this.#extentOf(Math.floor(slot / PAGE_SLOTS));
    if (extent === undefined) return 0;
    const cell = extent.cells + (slot - extent.firstPage * PAGE_SLOTS) * CELL_BYTES;
    return this.#kernel.u32[(cell + CELL_WORD) >>> 2] ?? 0;
  }

  /** The copied bits of a slot, if its page is read and its word says that it has a value. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    return this.word(slot) === syncedWord(incarnation)
      ? this.#kernel.u64[this.address(slot) >>> 3]
      : undefined;
  }

  /**
   * The bits that a slot has in the source now, if it has a value. Reads the word before and after the bits, because
   * another node may use the slot in between (docs/segment-format.md, 9).
   */
  readBits({ slot, incarnation }: SlotRef): bigint | undefined {
    const word = syncedWord(incarnation);
    const value = Buffer.alloc(8);
    const isValid =
      this.#readWord(slot) === word &&
      this.#source.readSlots(slot, 1, value) === 1 &&
      this.#readWord(slot) === word;
    return isValid ? value.readBigUInt64LE() : undefined;
  }

  /** All pages to read, in ranges. One copy reads a range. */
  get ranges(): PageRange[] {
    const ranges: PageRange[] = [];
    for (const { firstPage, used, cells } of this.#extents) append(ranges, firstPage, used, cells);
    return ranges;
  }

  /** The pages of these slots, in ranges. One copy reads a range. */
  rangesOf(slots: readonly number[]): PageRange[] {
    const pages = new Set<number>();
    let newest = -1;
    for (const slot of slots) {
      const page = Math.floor(slot / PAGE_SLOTS);
      // The next slot is usually on the same page.
      if (page !== newest) pages.add((newest = page));
    }
    const ranges: PageRange[] = [];
    for (const page of [...pages].sort((a, b) => a - b)) {
      const { firstPage, cells } = this.#extentFor(page * PAGE_SLOTS);
      append(ranges, page, 1, cells + (page - firstPage) * PAGE_BYTES);
    }
    return ranges;
  }

  /**
   * Copies the values of these pages, then their words. Appends the slots whose words differ to `changedSlots`.
   * @returns whether any value or word differs from the last copy
   */
  read({ firstPage, pages, runs }: PageRange, changedSlots: number[]): boolean {
    const slots = pages * PAGE_SLOTS;
    const first = firstPage * PAGE_SLOTS;
    const values = this.#scratch.reserve(slots * SCRATCH_BYTES);
    const words = values + slots * 8;
    const out = words + slots * 4;
    const valuesRead = this.#source.readSlots(first, slots, this.#kernel.view(values, slots * 8));
    const wordsRead = this.#source.readWords(first, slots, this.#kernel.view(words, slots * 4));
    this.#bytesRead += valuesRead * 8 + wordsRead * 4;
    // Slots that the source no longer has keep their last values.
    let left = Math.min(valuesRead, wordsRead);
    let at = 0;
    let changed = 0;
    const { run, u32 } = this.#kernel;
    for (const { pages: some, cells } of runs) {
      const count = Math.min(some * PAGE_SLOTS, left);
      changed += run.storeChanged(cells, values + at * 8, words + at * 4, count, out);
      const found = u32[CHANGED_WORDS_AT >>> 2] ?? 0;
      for (let i = 0; i < found; i++) changedSlots.push(first + at + (u32[(out >>> 2) + i] ?? 0));
      at += count;
      left -= count;
    }
    return changed > 0;
  }

  close(): void {
    for (const { at, bytes } of this.#allocations) this.#kernel.arena.free(at, bytes);
    this.#allocations.length = 0;
    this.#extents.length = 0;
    this.#extentOfPage.clear();
    this.#lastPage = -1;
    this.#last = undefined;
    this.#read.clear();
    this.#scratch.close();
  }

  /** The present word of a slot in the source; 0 if the source no longer has the slot. */
  #readWord(slot: number): number {
    const word = Buffer.alloc(4);
    return this.#source.readWords(slot, 1, word) === 1 ? word.readUInt32LE() : 0;
  }

  #extentOf(page: number): PageExtent | undefined {
    if (page === this.#lastPage) return this.#last;
    this.#lastPage = page;
    return (this.#last = this.#extentOfPage.get(page));
  }

  #extentFor(slot: number): PageExtent {
    const page = Math.floor(slot / PAGE_SLOTS);
    const known = this.#extentOf(page);
    if (known !== undefined) {
      const pages = page - known.firstPage;
      // The pages between the used pages and this page have no tracked slots, and must not be read.
      if (pages > known.used) return this.#split(known, pages);
      known.used = Math.max(known.used, pages + 1);
      return known;
    }
    // Slots are usually tracked in order: an extent that continues another reserves more.
    const before = this.#extentOfPage.get(page - 1);
    const wanted =
      before === undefined ? 1 : Math.min(before.capacity * GROWTH_FACTOR, EXTENT_PAGES);
    let capacity = 1;
    while (capacity < wanted && !this.#extentOfPage.has(page + capacity)) capacity++;
    const cells = this.#takeZeros(capacity * PAGE_BYTES);
    return this.#addExtent({ firstPage: page, capacity, used: 1, cells });
  }

  /** Splits an extent after its first `pages` pages; returns the extent of the other pages. */
  #split(extent: PageExtent, pages: number): PageExtent {
    const capacity = extent.capacity - pages;
    extent.capacity = pages;
    return this.#addExtent({
      firstPage: extent.firstPage + pages,
      capacity,
      used: 1,
      cells: extent.cells + pages * PAGE_BYTES,
    });
  }

  #addExtent(extent: PageExtent): PageExtent {
    this.#extents.push(extent);
    this.#lastPage = -1;
    for (let i = 0; i < extent.capacity; i++) this.#extentOfPage.set(extent.firstPage + i, extent);
    return extent;
  }

  #takeZeros(bytes: number): number {
    const at = this.#kernel.arena.allocateZeroed(bytes, (from, to) => {
      this.#kernel.bytes.fill(0, from, to);
    });
    this.#allocations.push({ at, bytes });
    return at;
  }
}

/** Adds pages to the last range and run if they are contiguous; otherwise begins new ones. */
function append(ranges: PageRange[], firstPage: number, pages: number, cells: number): void {
  const last = ranges.at(-1);
  const isContiguous = last !== undefined && last.firstPage + last.pages === firstPage;
  if (!isContiguous || last.pages + pages > MAX_RANGE_PAGES) {
    ranges.push({ firstPage, pages, runs: [{ pages, cells }] });
    return;
  }
  last.pages += pages;
  const run = last.runs.at(-1);
  if (run !== undefined && run.cells + run.pages * PAGE_BYTES === cells) run.pages += pages;
  else last.runs.push({ pages, cells });
}

/** The word of a slot whose variable or object has a value. */
export const syncedWord = (incarnation: number): number => ((incarnation << 1) | 1) >>> 0;
