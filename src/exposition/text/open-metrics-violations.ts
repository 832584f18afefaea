// Finds values that text 0.0.4 allows and OpenMetrics 1.0 forbids: negative values and NaN in counters, sums and
// counts, negative quantiles, and sums of histograms with negative bounds.
import { OPCODE } from '../wasm/kernel.js';
import { labelsOf } from './line.js';
import type { Line } from './line.js';
import type { Family } from './family.js';

const NEGATIVE_BOUND = /le="-[^"]*"\} $/;
/** Searching this many families takes 0.1 ms if few values changed. */
const FAMILIES_A_STEP = 64;

export class OpenMetricsViolations {
  /** Families whose values may violate OpenMetrics. */
  readonly #suspects = new Set<Family>();
  /** Families that had a violation at the last search. */
  readonly #found = new Set<Family>();
  /** Families that have a histogram with a negative bound. */
  readonly #negativeBounds = new Set<Family>();
  #lastSuspect: Family | undefined;

  /** Whether any family has a violation. */
  get wereFound(): boolean {
    return this.#found.size > 0 || this.#negativeBounds.size > 0;
  }

  /** Call it for each line that is added to a family. */
  put(family: Family, line: Line): void {
    const { type } = family.metadata;
    if (type !== 'counter' && type !== 'histogram' && type !== 'summary') return;
    if (line.suffix === '_bucket' && NEGATIVE_BOUND.test(labelsOf(line)))
      this.#negativeBounds.add(family);
    const kind = line.opcode & 0xff;
    if (kind === OPCODE.u64 || kind === OPCODE.bool || family === this.#lastSuspect) return;
    this.#lastSuspect = family;
    if (!this.#found.has(family)) this.#suspects.add(family);
  }

  /** Call it after the last line of a family was removed. */
  delete(family: Family): void {
    this.#suspects.delete(family);
    this.#found.delete(family);
    this.#negativeBounds.delete(family);
    if (family === this.#lastSuspect) this.#lastSuspect = undefined;
  }

  /** Searches the blocks that the next render writes, and all blocks of families with a violation, in small steps. */
  *searching(ofDeflate: boolean): Generator<void, void> {
    let searched = 0;
    for (const family of this.#found) {
      if (yield* family.searchingViolations('all')) continue;
      this.#found.delete(family);
      this.#suspects.add(family);
    }
    for (const family of this.#suspects) {
      if (yield* family.searchingViolations(ofDeflate ? 'deflate' : 'text')) {
        this.#suspects.delete(family);
        this.#found.add(family);
      }
      if (++searched % FAMILIES_A_STEP === 0) yield;
    }
  }
}
