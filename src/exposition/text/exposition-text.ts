// All families of one target: lines come and go, and a snapshot holds their current text.
import { Fault } from '../../errors.js';
import type { FamilyFacts, Snapshot } from '../../model.js';
import type { LineKey } from './block.js';
import { Family } from './family.js';
import { familyText } from './family-text.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Line } from '../kernel/line-table.js';
import type { TextPiece } from './text-piece.js';

/** Characters of a line that take as long as a whole short line. */
const CHARACTERS_A_STEP = 128;

interface Ranked {
  readonly rank: number;
  readonly family: Family;
}

export class ExpositionText {
  readonly #kernel: Kernel;
  readonly #families = new Map<string, Ranked>();
  #order: readonly Ranked[] | undefined;
  #lines = 0;
  #effort = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Number of lines, one per series. */
  get lines(): number {
    return this.#lines;
  }

  /** Lines that were put, looked up or removed so far; long ones count for more. */
  get effort(): number {
    return this.#effort;
  }

  get families(): number {
    return this.#families.size;
  }

  /** The family of that name as first added, or undefined. */
  facts(name: string): FamilyFacts | undefined {
    return this.#families.get(name)?.family.facts;
  }

  /** Adds or replaces a line. Families are sorted by `rank`, then by name. */
  put(facts: FamilyFacts, rank: number, key: LineKey, line: Line): void {
    let ranked = this.#families.get(facts.name);
    if (ranked === undefined) {
      ranked = { rank, family: new Family(this.#kernel, facts) };
      this.#families.set(facts.name, ranked);
      this.#order = undefined;
    }
    const before = ranked.family.lines;
    this.#effort += effortOf(line);
    ranked.family.put(key, line);
    this.#lines += ranked.family.lines - before;
  }

  remove(name: string, key: LineKey): void {
    const ranked = this.#families.get(name);
    if (ranked === undefined) return;
    const before = ranked.family.lines;
    this.#effort++;
    ranked.family.remove(key);
    this.#lines += ranked.family.lines - before;
    if (ranked.family.lines > 0) return;
    ranked.family.close();
    this.#families.delete(name);
    this.#order = undefined;
  }

  line(name: string, key: LineKey): Line | undefined {
    const line = this.#families.get(name)?.family.line(key);
    this.#effort += line === undefined ? 1 : effortOf(line);
    return line;
  }

  /**
   * Renders changed lines and returns a snapshot of the current text. Its `hold` throws Fault
   * NATIVE_FAILED if a later render or the end has freed the text already.
   */
  render(): Snapshot {
    this.#order ??= [...this.#families.values()].sort(
      (a, b) => a.rank - b.rank || (a.family.facts.name < b.family.facts.name ? -1 : 1),
    );
    const pieces: TextPiece[] = [];
    let bytes = 0;
    const families = this.#order.map(({ family }) => {
      const texts = family.render();
      for (const text of texts) {
        pieces.push(text);
        bytes += text.length;
      }
      return familyText(
        family.facts,
        texts.map((text) => text.view),
      );
    });
    const hold = () => {
      if (pieces.some(({ isGone }) => isGone))
        throw new Fault('NATIVE_FAILED', 'The text is gone: hold it before the next render');
      let isHeld = true;
      for (const piece of pieces) piece.hold();
      return () => {
        if (isHeld) for (const piece of pieces) piece.release();
        isHeld = false;
      };
    };
    return { families, bytes, series: this.#lines, hold };
  }

  close(): void {
    for (const { family } of this.#families.values()) family.close();
    this.#families.clear();
    this.#order = undefined;
    this.#lines = 0;
  }
}

const effortOf = ({ text }: Line): number => 1 + text.length / CHARACTERS_A_STEP;
