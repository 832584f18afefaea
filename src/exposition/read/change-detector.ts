// Finds the cells in the kernel's memory that changed since the last check.
import { LargeMap } from '../../collections/large-map.js';
import type { Kernel } from '../wasm/kernel.js';

/** How many cells are compared in one step. */
const CELLS_A_STEP = 8192;
/** The maximum number of nodes that one check reports because of `reportAgain`. */
const MAX_REPEATED = 1024;

interface ComparedCell<T> {
  readonly node: T;
  /** The index in `u32` of the lower half of the cell's value; the upper half follows. */
  readonly at: number;
  /** The bits at the last check. */
  low: number;
  high: number;
}

export class CellChangeDetector<T extends { readonly id: number }> {
  readonly #kernel: Pick<Kernel, 'u32'>;
  readonly #cells: ComparedCell<T>[] = [];
  /** The index of each node's cell, by the node's id. */
  readonly #indexOf = new LargeMap<number>();
  /** Ids of the nodes to report at a later check, whether they change or not. */
  readonly #again = new Set<number>();

  constructor(kernel: Pick<Kernel, 'u32'>) {
    this.#kernel = kernel;
  }

  /** Compares the 8 bytes at `address` at each check. Does nothing if the node has a cell already. */
  add(node: T, address: number): void {
    if (this.#indexOf.has(node.id)) return;
    const { u32 } = this.#kernel;
    const at = address >>> 2;
    this.#indexOf.set(node.id, this.#cells.length);
    this.#cells.push({ node, at, low: u32[at] ?? 0, high: u32[at + 1] ?? 0 });
  }

  remove({ id }: T): void {
    const index = this.#indexOf.get(id);
    if (index === undefined) return;
    this.#indexOf.delete(id);
    const last = this.#cells.pop();
    if (last === undefined || last.node.id === id) return;
    this.#cells[index] = last;
    this.#indexOf.set(last.node.id, index);
  }

  /** Makes a later check report a node, whether it changes or not. */
  reportAgain({ id }: T): void {
    this.#again.add(id);
  }

  /**
   * Finds the nodes whose bits changed since the last check, and the first 1024 passed to `reportAgain`. The work takes
   * small steps; until the last step, no other method may be called.
   */
  *changed(): Generator<void, readonly T[]> {
    const repeated = this.#takeRepeated();
    const found: T[] = [];
    let compared = 0;
    for (const cell of this.#cells) {
      if (++compared % CELLS_A_STEP === 0) yield;
      const { u32 } = this.#kernel;
      const low = u32[cell.at] ?? 0;
      const high = u32[cell.at + 1] ?? 0;
      if (low === cell.low && high === cell.high && !repeated.has(cell.node.id)) continue;
      cell.low = low;
      cell.high = high;
      found.push(cell.node);
    }
    return found;
  }

  close(): void {
    this.#cells.length = 0;
    this.#indexOf.clear();
    this.#again.clear();
  }

  #takeRepeated(): ReadonlySet<number> {
    const repeated = new Set<number>();
    for (const id of this.#again) {
      if (repeated.size === MAX_REPEATED) break;
      this.#again.delete(id);
      repeated.add(id);
    }
    return repeated;
  }
}
