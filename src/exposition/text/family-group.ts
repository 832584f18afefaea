// Families that follow each other on a page and are written together: some short ones with one passage, or a long
// one with passages of its own.
import type { DeflatedPart, FamilyText } from '../../model.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Family } from './family.js';
import { DeflatedFamily, HeadedFamily } from './family-text.js';
import type { Passage, PassagePart, Places } from './passage.js';
import type { TextPiece } from './text-piece.js';
import type { Wanted, WritingTask } from './writing-task.js';

/** The families of a group as they were written. */
export interface Shown {
  /** Views of them, made where they are wanted. */
  readonly families: readonly FamilyText[];
  /** Bytes of their lines. */
  readonly bytes: number;
  /** Their text with the headers, if it was wanted. */
  readonly texts: readonly TextPiece[];
  /** All pieces that they are in. */
  readonly pieces: readonly TextPiece[];
}

/**
 * About so many bytes families have together. With more of them there would be fewer passages to write and to send,
 * but more text would be moved where a value changes its length.
 */
export const MAX_BYTES = 131_072;

export class FamilyGroup {
  readonly families: readonly Family[];
  /** One, or several of one family. */
  readonly passages: readonly Passage[];
  readonly #kernel: Kernel;
  #last: Written | undefined;
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
    const isSame = last?.form.hasText === hasText && last.form.code === deflater?.code;
    this.#isCurrent = isSame && stale.length === length;
    return this.#isCurrent ? last : undefined;
  }

  /** The lines as they were written, all families of them. */
  shown({ hasText, deflater }: Wanted): Shown {
    const texts: TextPiece[] = [];
    let textBytes = 0;
    for (const { text, headerBytes } of this.passages) {
      if (text === undefined) continue;
      texts.push(text);
      textBytes += text.length - headerBytes;
    }
    const deflated = deflater && deflatedOf(this.families);
    const bytes = hasText ? textBytes : (deflated?.bytes ?? 0);
    const pieces = deflated === undefined ? texts : [...texts, ...deflated.pieces];
    const form = { hasText, code: deflater?.code };
    this.#last = new Written(
      { texts, bytes, pieces },
      form,
      this.#views(form, texts, deflated?.parts),
    );
    this.#isCurrent = true;
    return this.#last;
  }

  /** Whether so many lines came that its families are to be divided. */
  get isTooLarge(): boolean {
    return this.families.length > 1 && (this.passages[0]?.bytes ?? 0) > 2 * MAX_BYTES;
  }

  /** Frees the text of the families, which may have ended, a passage a step. */
  *closing(): Generator<void, void> {
    this.#last = undefined;
    for (const passage of this.passages) {
      passage.close();
      yield;
    }
  }

  /** What makes the families as they are now: the next job writes where they are. */
  #views(
    form: Form,
    texts: readonly TextPiece[],
    parts?: FamilyParts,
  ): () => readonly FamilyText[] {
    const [passage, ...more] = this.passages;
    const { hasText, code } = form;
    if (!hasText && code !== undefined) return () => this.#asDeflated(parts ?? [], code);
    if (passage === undefined || more.length > 0) return () => this.#asPassages(texts, parts);
    const { places } = passage;
    const former = this.#formerOf(form);
    return () => this.#inPassage(passage.parts, texts, places, former, parts);
  }

  /** The families of before, of which those that are the same are used again, if there is nothing but text of either. */
  #formerOf({ code }: Form): readonly FamilyText[] {
    const last = this.#last;
    const isTextAlone = code === undefined && last?.form.hasText && last.form.code === undefined;
    return isTextAlone === true ? last.made : [];
  }

  #asDeflated(parts: FamilyParts, code: DeflateCode): readonly FamilyText[] {
    return this.families.map(
      ({ facts }, index) => new DeflatedFamily(facts, parts[index] ?? [], code),
    );
  }

  /** A family with passages of its own. */
  #asPassages(texts: readonly TextPiece[], parts?: FamilyParts): readonly FamilyText[] {
    const [family] = this.families;
    if (family === undefined) return [];
    const { facts, header } = family;
    const memory = this.#kernel.bytes.buffer;
    const spans: number[] = [];
    for (const { address, length } of texts) spans.push(address, address + length);
    return [new HeadedFamily(facts, { header, memory, spans }, parts?.[0])];
  }

  /** Families that share a passage. */
  #inPassage(
    all: readonly PassagePart[],
    [text]: readonly TextPiece[],
    { bounds, others }: Places,
    former: readonly FamilyText[],
    parts?: FamilyParts,
  ): readonly FamilyText[] {
    const families: FamilyText[] = [];
    if (text === undefined) return families;
    const memory = this.#kernel.bytes.buffer;
    let index = 0;
    for (const { header } of all) {
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

/** Which forms the lines have. */
interface Form {
  readonly hasText: boolean;
  /** Of the parts of a stream; undefined without them. */
  readonly code: DeflateCode | undefined;
}

/** What was written, in the form that was wanted. */
class Written implements Shown {
  readonly bytes: number;
  readonly texts: readonly TextPiece[];
  readonly pieces: readonly TextPiece[];
  readonly form: Form;
  readonly #make: () => readonly FamilyText[];
  #families: readonly FamilyText[] | undefined;

  /** @param make makes views of the families, once */
  constructor(
    { bytes, texts, pieces }: Omit<Shown, 'families'>,
    form: Form,
    make: () => readonly FamilyText[],
  ) {
    this.bytes = bytes;
    this.texts = texts;
    this.pieces = pieces;
    this.form = form;
    this.#make = make;
  }

  get families(): readonly FamilyText[] {
    return (this.#families ??= this.#make());
  }

  /** Those that were made: none, unless somebody wanted them. */
  get made(): readonly FamilyText[] {
    return this.#families ?? [];
  }
}

/** Parts of a stream, by family. */
type FamilyParts = readonly (readonly DeflatedPart[])[];

/** Those of the families, their bytes of text, and the pieces that they are in. */
interface DeflatedFamilies {
  readonly parts: FamilyParts;
  readonly bytes: number;
  readonly pieces: readonly TextPiece[];
}

function deflatedOf(families: readonly Family[]): DeflatedFamilies {
  const pieces: TextPiece[] = [];
  let sum = 0;
  const parts = families.map(({ blocks }) => {
    const own: DeflatedPart[] = [];
    for (const { deflated } of blocks) {
      if (deflated === undefined) continue;
      const { piece, bits, crc, bytes } = deflated;
      pieces.push(piece);
      sum += bytes;
      own.push({ data: piece.view, bits, crc, bytes });
    }
    return own;
  });
  return { parts, bytes: sum, pieces };
}
