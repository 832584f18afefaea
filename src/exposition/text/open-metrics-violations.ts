// Finds values that OpenMetrics 1.0 forbids, which Prometheus and text 0.0.4 take: negative or NaN in counters,
// sums and counts, negative quantiles, and sums of histograms with negative bounds.
import { OPCODE } from '../wasm/kernel.js';
import { labelsOf } from '../wasm/line-table.js';
import type { Line } from '../wasm/line-table.js';
import type { Family } from './family.js';

const NEGATIVE_BOUND = /le="-[^"]*"\} $/;
/** So many families take some 0.1 ms to search if few values changed. */
const FAMILIES_A_STEP = 64;

export class OpenMetricsViolations {
  /** Families whose values may become forbidden ones. */
  readonly #suspects = new Set<Family>();
  /** Families that had a forbidden value since they have lines. */
  readonly #found = new Set<Family>();
  #lastSuspect: Family | undefined;

  /** Whether any family has had one. */
  get wereFound(): boolean {
    return this.#found.size > 0;
  }

  /** To be called for each line that a family gets. */
  put(family: Family, line: Line): void {
    const { type } = family.metadata;
    if (type !== 'counter' && type !== 'histogram' && type !== 'summary') return;
    if (line.suffix === '_bucket' && NEGATIVE_BOUND.test(labelsOf(line))) this.#found.add(family);
    const kind = line.opcode & 0xff;
    if (kind === OPCODE.u64 || kind === OPCODE.bool || family === this.#lastSuspect) return;
    this.#lastSuspect = family;
    if (!this.#found.has(family)) this.#suspects.add(family);
  }

  /** To be called when a family has no lines any more. */
  delete(family: Family): void {
    this.#suspects.delete(family);
    this.#found.delete(family);
    if (family === this.#lastSuspect) this.#lastSuspect = undefined;
  }

  /** Searches the lines that the next render writes, in small steps. */
  *searching(ofStream: boolean): Generator<void, void> {
    let searched = 0;
    for (const family of this.#suspects) {
      if (yield* family.searchingViolations(ofStream)) {
        this.#suspects.delete(family);
        this.#found.add(family);
      }
      if (++searched % FAMILIES_A_STEP === 0) yield;
    }
  }
}
