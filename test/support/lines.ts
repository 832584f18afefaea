// Creates lines from label texts and values, as rows do.
import type { Kernel } from '#app/exposition/wasm/kernel.js';
import { CELL_BYTES } from '#app/exposition/wasm/layout.js';
import type { Line } from '#app/exposition/text/line.js';
import { labelsPart } from '#app/exposition/text/text-syntax.js';

/** A line with a constant value, without a cell. @param labels without braces */
export const fixedLine = (labels: string, value: string | number, suffix = ''): Line => ({
  suffix,
  labels: labelsPart(labels),
  constant: `${value}\n`,
  cell: 0,
  opcode: 0,
});

/** A line with the value of a cell. @param labels without braces */
export const cellLine = (labels: string, cell: number, opcode: number, suffix = ''): Line => ({
  suffix,
  labels: labelsPart(labels),
  constant: '',
  cell,
  opcode,
});

/** Cells in the kernel's memory, filled as a `SlotReader` fills them. */
export class Cells {
  readonly #kernel: Kernel;
  readonly at: number;

  constructor(kernel: Kernel, count: number) {
    this.#kernel = kernel;
    this.at = kernel.arena.allocate(count * CELL_BYTES);
    kernel.bytes.fill(0, this.at, this.at + count * CELL_BYTES);
  }

  /** The address of a cell. */
  of(index: number): number {
    return this.at + index * CELL_BYTES;
  }

  number(index: number): number {
    return this.#kernel.f64[this.of(index) / 8] ?? NaN;
  }

  setBits(index: number, bits: bigint): void {
    this.#kernel.u64[this.of(index) / 8] = bits;
    this.#kernel.run.markDirty(this.of(index));
  }

  set(index: number, value: number): void {
    this.setBits(index, new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n);
  }
}
