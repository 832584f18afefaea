// The table of a code in the kernel's memory, and those of the CRC beside it.
import { crcTables } from '../deflate/crc.js';
import { CODE_BYTES } from '../deflate/deflate-code.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import type { Kernel } from './kernel.js';

export class CodeTable {
  readonly #kernel: Kernel;
  readonly address: number;
  #code: DeflateCode | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    kernel.installCrcTables(crcTables());
    this.address = kernel.arena.take(CODE_BYTES);
  }

  use(code: DeflateCode): void {
    if (this.#code === code) return;
    this.#code = code;
    this.#kernel.bytes.set(code.table, this.address);
  }

  close(): void {
    this.#kernel.arena.give(this.address, CODE_BYTES);
  }
}
