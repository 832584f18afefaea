// Reads the current values of nodes from the source, without the copies of a refresh.
import { Budget } from '../../budget.js';
import { OBJECT_STATES } from '../../model.js';
import type { Frame, ManagedObject, SlotRef, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import { SECTOR_SLOTS, exactOf, sectorOf, syncedWord } from './slots.js';

/** The maximum number of sectors whose copies are kept. */
const MAX_COPIES = 64;

interface SectorCopy {
  readonly values: Buffer;
  /**
   * The words before and after the copy of the values. A value is valid if both words say so (docs/segment-format.md,
   * 9).
   */
  readonly before: Buffer;
  readonly after: Buffer;
}

/** Copies of the slots that were read last, made at the first read of each sector. */
export class SlotCopies {
  readonly #source: Pick<Source, 'readSlots' | 'readWords'>;
  readonly #copies = new Map<number, SectorCopy>();
  /** Copies to reuse, since a query of a large tree would otherwise produce much garbage. */
  readonly #free: SectorCopy[] = [];

  constructor(source: Pick<Source, 'readSlots' | 'readWords'>) {
    this.#source = source;
  }

  /** The bits of a slot; undefined while it is not synced. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const { values, before, after } = this.#copyOf(sectorOf(slot));
    const at = slot % SECTOR_SLOTS;
    const word = syncedWord(incarnation);
    const isValid = before.readUInt32LE(at * 4) === word && after.readUInt32LE(at * 4) === word;
    return isValid ? values.readBigUInt64LE(at * 8) : undefined;
  }

  /** Drops all copies, so that later reads copy the current values. */
  clear(): void {
    this.#free.push(...this.#copies.values());
    this.#copies.clear();
  }

  #copyOf(sector: number): SectorCopy {
    const known = this.#copies.get(sector);
    if (known !== undefined) return known;
    if (this.#copies.size >= MAX_COPIES) this.clear();
    const copy = this.#free.pop() ?? newCopy();
    const first = sector * SECTOR_SLOTS;
    for (const words of [copy.before, copy.after]) words.fill(0);
    this.#source.readWords(first, SECTOR_SLOTS, copy.before);
    this.#source.readSlots(first, SECTOR_SLOTS, copy.values);
    this.#source.readWords(first, SECTOR_SLOTS, copy.after);
    this.#copies.set(sector, copy);
    return copy;
  }
}

const newCopy = (): SectorCopy => ({
  values: Buffer.alloc(SECTOR_SLOTS * 8),
  before: Buffer.alloc(SECTOR_SLOTS * 4),
  after: Buffer.alloc(SECTOR_SLOTS * 4),
});

/** The maximum number of times that frames are copied again because they changed during a copy. */
const MAX_REPEATS = 10_000;

export type NodeValue =
  /** The node has no value yet. */
  | { readonly kind: 'unsynced' }
  /** No consistent copy of the node's frame could be made within the budget. */
  | { readonly kind: 'no-copy' }
  /** A bool is 0 or 1. */
  | { readonly kind: 'number'; readonly number: bigint | number }
  | { readonly kind: 'frame'; readonly frame: Frame };

export class NodeValues {
  readonly #source: Pick<Source, 'readFrame'>;
  readonly #slots: SlotCopies;
  /** The budget of copies. It suffices to read all frames of a valid publisher twice: each read takes two copies. */
  readonly #frames: Budget;

  constructor(source: Pick<Source, 'readFrame' | 'frameBytes'>, slots: SlotCopies) {
    this.#source = source;
    this.#slots = slots;
    this.#frames = new Budget({ bytes: 4 * source.frameBytes, steps: MAX_REPEATS });
  }

  /** The state of an object; undefined while it is not synced. */
  ofObject(object: ManagedObject): string | undefined {
    const bits = this.#slots.bits(object);
    if (bits === undefined) return undefined;
    return OBJECT_STATES[Number(bits)] ?? `state ${bits}, which has no name`;
  }

  ofVariable(variable: Variable): NodeValue {
    const framed = isFramed(variable.type);
    // Read the frame before the word: the word then tells whether the frame still belonged to the variable.
    const frame = framed ? this.#source.readFrame(variable, this.#frames) : undefined;
    const bits = this.#slots.bits(variable);
    if (bits === undefined) return { kind: 'unsynced' };
    if (!framed) return { kind: 'number', number: exactOf(bits, variable) };
    return frame === undefined ? { kind: 'no-copy' } : { kind: 'frame', frame };
  }
}
