// The values of objects and variables, read from the source at the moment of the look.
import { Budget } from '../../budget.js';
import { OBJECT_STATES } from '../../model.js';
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { exactOf } from '../read/slot-value.js';
import { isFramed } from '../../published.js';
import type { SlotCopies } from './slot-copies.js';

/** Further copies of frames that were changing. */
const MAX_REPEATS = 10_000;

export type ItemValue =
  /** It has no value yet. */
  | { readonly kind: 'unsynced' }
  /** No whole copy of its frame could be had in time. */
  | { readonly kind: 'no-copy' }
  /** A bool is 0 or 1. */
  | { readonly kind: 'number'; readonly number: bigint | number }
  | { readonly kind: 'frame'; readonly frame: Frame };

export class ItemValues {
  readonly #source: Pick<Source, 'readFrame'>;
  readonly #slots: SlotCopies;
  /** Twice what the copies of an honest publisher's frames take. */
  readonly #frames: Budget;

  constructor(source: Pick<Source, 'readFrame' | 'frameBytes'>, slots: SlotCopies) {
    this.#source = source;
    this.#slots = slots;
    this.#frames = new Budget({ bytes: 4 * source.frameBytes, steps: MAX_REPEATS });
  }

  /** Bytes of frames that were copied. */
  get bytes(): number {
    return this.#frames.bytes;
  }

  /** The state of an object; undefined while it is not synced. */
  ofObject(object: ManagedObject): string | undefined {
    const bits = this.#slots.bits(object);
    if (bits === undefined) return undefined;
    return OBJECT_STATES[Number(bits)] ?? `state ${bits}, which has no name`;
  }

  ofVariable(variable: Variable): ItemValue {
    const framed = isFramed(variable.type);
    // A frame first: a word that is read later says whose it was.
    const frame = framed ? this.#source.readFrame(variable, this.#frames) : undefined;
    const bits = this.#slots.bits(variable);
    if (bits === undefined) return { kind: 'unsynced' };
    if (!framed) return { kind: 'number', number: exactOf(bits, variable) };
    return frame === undefined ? { kind: 'no-copy' } : { kind: 'frame', frame };
  }
}
