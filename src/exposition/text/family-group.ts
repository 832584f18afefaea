// Families that follow each other on a page and are written together: some short ones with one passage, or a long
// one with passages of its own.
import type { DeflatedPart, FamilyText } from '../../model.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Family } from './family.js';
import { DeflatedFamily, HeadedFamily } from './family-text.js';
import type { Passage } from './passage.js';
import type { TextPiece } from './text-piece.js';
import type { Wanted, WritingTask } from './writing-task.js';

/** The families as they were wanted last, their bytes, and the pieces that they are in. */
export interface Shown {
  readonly families: readonly FamilyText[];
  readonly bytes: number;
  readonly pieces: readonly TextPiece[];
}

interface LastShown extends Shown {
  readonly hasText: boolean;
  readonly code: DeflateCode | undefined;
}

/**
 * About so many bytes families have together. With more of them there would be fewer passages to write and to send,
 * but more text would be moved where a value changes its length.
 */
export const MOST_BYTES = 131_072;

export class FamilyGroup {
  readonly families: readonly Family[];
  /** One, or several of one family. */
  readonly passages: readonly Passage[];
  readonly #kernel: Kernel;
  #last: LastShown | undefined;
  /** Whether that tells what was written last. */
  #isCurrent = true;

  constructor(kernel: Kernel, families: readonly Family[], passages: readonly Passage[]) {
    this.#kernel = kernel;
    this.families = families;
    this.passages = passages;
  }

  /**
   * Adds what is to be written to `stale`, frees text that is not wanted, and returns what was shown last, if
   * the lines are wanted in the same way and have the same values.
   */
  collectStale({ hasText, deflater }: Wanted, stale: WritingTask[]): Shown | undefined {
    // A render was not ended: nobody has seen what it wrote.
    if (!this.#isCurrent) this.#last = undefined;
    const { length } = stale;
    for (const passage of this.passages)
      if (!hasText) passage.dropText();
      else if (!passage.isFresh) stale.push(passage);
    if (deflater !== undefined)
      for (const { blocks } of this.families)
        for (const block of blocks) if (!block.isFresh(deflater)) stale.push(block);
    const last = this.#last;
    const isSame = last?.hasText === hasText && last.code === deflater?.code;
    this.#isCurrent = isSame && stale.length === length;
    return this.#isCurrent ? last : undefined;
  }

  /** The lines as they were written, all families of them. */
  shown({ hasText, deflater }: Wanted): Shown {
    const pieces: TextPiece[] = [];
    const parts = deflater && this.families.map((family) => deflatedParts(family, pieces));
    let families: readonly FamilyText[];
    if (deflater !== undefined && !hasText) families = this.#asDeflated(parts ?? [], deflater.code);
    else if (this.passages.length > 1) families = this.#asPassages(parts, pieces);
    else families = this.#inPassage(parts, pieces);
    let bytes = 0;
    for (const family of families) bytes += family.bytes;
    this.#last = { families, bytes, pieces, hasText, code: deflater?.code };
    this.#isCurrent = true;
    return this.#last;
  }

  /** Whether so many lines came that its families are to be divided. */
  get isTooLarge(): boolean {
    return this.families.length > 1 && (this.passages[0]?.bytes ?? 0) > 2 * MOST_BYTES;
  }

  /** Frees the text of the families, which may have ended, a passage a step. */
  *closing(): Generator<void, void> {
    this.#last = undefined;
    for (const passage of this.passages) {
      passage.close();
      yield;
    }
  }

  #asDeflated(parts: FamilyParts, code: DeflateCode): readonly FamilyText[] {
    return this.families.map(
      ({ facts }, index) => new DeflatedFamily(facts, parts[index] ?? [], code),
    );
  }

  /** A family with passages of its own. */
  #asPassages(parts: FamilyParts | undefined, pieces: TextPiece[]): readonly FamilyText[] {
    const memory = this.#kernel.bytes.buffer;
    const spans: number[] = [];
    for (const { text } of this.passages) {
      if (text === undefined) continue;
      pieces.push(text);
      spans.push(text.address, text.address + text.length);
    }
    const [family] = this.families;
    if (family === undefined) return [];
    const { facts, header } = family;
    return [new HeadedFamily(facts, { header, memory, spans }, parts?.[0])];
  }

  /** Families that share a passage: where nothing changed, they are the same as before. */
  #inPassage(parts: FamilyParts | undefined, pieces: TextPiece[]): readonly FamilyText[] {
    const families: FamilyText[] = [];
    const [passage] = this.passages;
    const text = passage?.text;
    if (passage === undefined || text === undefined) return families;
    pieces.push(text);
    const memory = this.#kernel.bytes.buffer;
    const { bounds, others } = passage.places;
    const last = this.#last;
    const isTextAlone = parts === undefined && last?.hasText === true && last.code === undefined;
    const former = isTextAlone ? last.families : [];
    let index = 0;
    for (const { header } of passage.parts) {
      const facts = this.families[index]?.facts;
      // Another block of the same family.
      if (header === undefined || facts === undefined) continue;
      const known = others[index] === true ? undefined : former[index];
      const start = text.address + (bounds[index] ?? 0);
      const end = text.address + (bounds[index + 1] ?? 0);
      families.push(
        known ?? new HeadedFamily(facts, { header, memory, spans: [start, end] }, parts?.[index]),
      );
      index++;
    }
    return families;
  }
}

/** Parts of a stream, by family. */
type FamilyParts = readonly (readonly DeflatedPart[])[];

/** Those of the blocks of a family; what they are in is added to `pieces`. */
function deflatedParts({ blocks }: Family, pieces: TextPiece[]): readonly DeflatedPart[] {
  const parts: DeflatedPart[] = [];
  for (const { deflated } of blocks) {
    if (deflated === undefined) continue;
    const { piece, bits, crc, bytes } = deflated;
    pieces.push(piece);
    parts.push({ data: piece.view, bits, crc, bytes });
  }
  return parts;
}
