// Copies of a source's slots for one look at a tree, by pages.
import type { SlotRef, Source } from '../../model.js';
import { syncedWord } from '../read/slot-pages.js';

const PAGE_SLOTS = 512;
const MAX_PAGES = 64;

interface Page {
  readonly values: Buffer;
  /** Before and after the values: a value is valid if both say so (docs/segment-format.md, 9). */
  readonly before: Buffer;
  readonly after: Buffer;
}

export class SlotCopies {
  readonly #source: Pick<Source, 'readSlots' | 'readWords'>;
  readonly #pages = new Map<number, Page>();
  /** Memory of forgotten copies: a look at a large tree would leave much of it behind. */
  readonly #free: Page[] = [];

  constructor(source: Pick<Source, 'readSlots' | 'readWords'>) {
    this.#source = source;
  }

  /** The bits of a slot; undefined while it is not synced. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const { values, before, after } = this.#page(Math.floor(slot / PAGE_SLOTS));
    const at = slot % PAGE_SLOTS;
    const word = syncedWord(incarnation);
    const isValid = before.readUInt32LE(at * 4) === word && after.readUInt32LE(at * 4) === word;
    return isValid ? values.readBigUInt64LE(at * 8) : undefined;
  }

  /** Forgets the copies: others were taken in meanwhile. */
  clear(): void {
    this.#free.push(...this.#pages.values());
    this.#pages.clear();
  }

  #page(number: number): Page {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    if (this.#pages.size >= MAX_PAGES) this.clear();
    const page = this.#free.pop() ?? newPage();
    const first = number * PAGE_SLOTS;
    for (const words of [page.before, page.after]) words.fill(0);
    this.#source.readWords(first, PAGE_SLOTS, page.before);
    this.#source.readSlots(first, PAGE_SLOTS, page.values);
    this.#source.readWords(first, PAGE_SLOTS, page.after);
    this.#pages.set(number, page);
    return page;
  }
}

/** Where words are 0 there is no value. */
const newPage = (): Page => ({
  values: Buffer.alloc(PAGE_SLOTS * 8),
  before: Buffer.alloc(PAGE_SLOTS * 4),
  after: Buffer.alloc(PAGE_SLOTS * 4),
});
