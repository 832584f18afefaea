// The scales that the rows of one target hold in the kernel's memory.
import { UNCHANGED } from '../../catalogue/row.js';
import type { Conversion } from '../../catalogue/row.js';
import type { Op } from '../wasm/kernel.js';
import type { Scales } from '../wasm/scales.js';

export class HeldScales {
  readonly #scales: Scales;
  /** The kernel's result for each conversion of the catalogue. */
  readonly #held = new Map<Conversion, number>();

  constructor(scales: Scales) {
    this.#scales = scales;
  }

  /** The op code of a value; undefined while the kernel has no room for its scale. */
  op(op: Op, conversion: Conversion): number | undefined {
    if (conversion === UNCHANGED) return op;
    const held = this.#held.get(conversion) ?? this.#hold(conversion);
    return held === undefined ? undefined : (op | held) >>> 0;
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
