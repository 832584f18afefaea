// Finds the nodes whose cells in the kernel's memory changed since the last check.
import { LargeMap } from '../../collections/large-map.js';
import type { Kernel } from '../wasm/kernel.js';
import type { TreeNode } from './tree-walk.js';

/** How many cells are compared in one step. */
const CELLS_A_STEP = 8192;

interface ComparedCell {
  readonly node: TreeNode;
  /** The index in `u32` of the lower half of the cell's value; the upper half follows. */
  readonly at: number;
  /** The bits at the last check. */
  low: number;
  high: number;
  /** Whether the next check reports the node even if its bits are the same. */
  isReportedAgain: boolean;
}

export class ChangeDetector {
  readonly #kernel: Pick<Kernel, 'u32'>;
  readonly #addressOf: (slot: number) => number;
  /** By the node's id. */
  readonly #cells = new LargeMap<ComparedCell>();

  /** @param addressOf returns the address of the cell of a slot */
  constructor(kernel: Pick<Kernel, 'u32'>, addressOf: (slot: number) => number) {
    this.#kernel = kernel;
    this.#addressOf = addressOf;
  }

  /** Compares the bits of the node at each check from now on. */
  add(node: TreeNode): void {
    if (this.#cells.has(node.id)) return;
    const at = this.#addressOf(node.slot) >>> 2;
    const { u32 } = this.#kernel;
    const [low, high] = [u32[at] ?? 0, u32[at + 1] ?? 0];
    this.#cells.set(node.id, { node, at, low, high, isReportedAgain: false });
  }

  remove({ id }: TreeNode): void {
    this.#cells.delete(id);
  }

  /** Makes the next check report a node, whether it changes or not. */
  reportAgain({ id }: TreeNode): void {
    const cell = this.#cells.get(id);
    if (cell !== undefined) cell.isReportedAgain = true;
  }

  /**
   * Finds the nodes whose bits changed since the last check. The work takes small steps; until the last step, no other
   * method may be called.
   */
  *changed(): Generator<void, readonly TreeNode[]> {
    const found: TreeNode[] = [];
    let compared = 0;
    for (const cell of this.#cells.values()) {
      if (++compared % CELLS_A_STEP === 0) yield;
      const { u32 } = this.#kernel;
      const low = u32[cell.at] ?? 0;
      const high = u32[cell.at + 1] ?? 0;
      if (low === cell.low && high === cell.high && !cell.isReportedAgain) continue;
      cell.low = low;
      cell.high = high;
      cell.isReportedAgain = false;
      found.push(cell.node);
    }
    return found;
  }

  close(): void {
    this.#cells.clear();
  }
}
