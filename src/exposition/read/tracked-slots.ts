// Who owns each slot that a probe tracks, in columns by pages of slots.
import { ColumnVariable } from '../../collections/column-variable.js';
import type { Declaration, ManagedObject, Variable } from '../../model.js';

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

const PAGE_SLOTS = 512;

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
