// The scales that the rows of one target hold in the kernel's memory.
import type { Conversion } from '../../catalogue/conversion.js';
import { OP } from '../kernel/kernel.js';
import type { OpKind } from '../kernel/kernel.js';
import type { Scales } from '../kernel/scales.js';

export class HeldScales {
  readonly #scales: Scales;
  /** The kernel's result for each conversion of the catalogue. */
  readonly #held = new Map<Conversion, number>();

  constructor(scales: Scales) {
    this.#scales = scales;
  }

  /** The op code of a value; undefined while the kernel has no room for its scale. */
  op(kind: OpKind, conversion: Conversion): number | undefined {
    const held = this.#held.get(conversion) ?? this.#hold(conversion);
    return held === undefined ? undefined : (OP[kind] | held) >>> 0;
  }

  close(): void {
    for (const held of this.#held.values()) this.#scales.release(held);
    this.#held.clear();
  }

  #hold(conversion: Conversion): number | undefined {
    const held = this.#scales.hold(conversion);
    if (held !== undefined) this.#held.set(conversion, held);
    return held;
  }
}
