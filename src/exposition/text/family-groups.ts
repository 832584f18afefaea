// Divides the families of a text into groups, and divides them again when lines came or went.
import type { Kernel } from '../kernel/kernel.js';
import type { Block } from './block.js';
import type { Family } from './family.js';
import { FamilyGroup } from './family-group.js';
import { Passage } from './passage.js';
import type { PassagePart } from './passage.js';
import { hasSameItems } from '../same-items.js';

/**
 * A passage of several families is no longer. With longer ones there are fewer to write and to send, but more
 * text is moved where a value changes its length.
 */
const MOST_BYTES = 131_072;
const MOST_FAMILIES = 64;
/** Bytes of a line beside its name and labels. */
const VALUE_BYTES = 10;

const sizeOf = ({ textBytes, lines, header }: Family): number =>
  textBytes + lines * VALUE_BYTES + header.bytes;

/** What there was before a division. */
class Former {
  readonly #groups = new Map<Family, FamilyGroup>();
  readonly #passages = new Map<Block, Passage>();

  constructor(groups: readonly FamilyGroup[]) {
    for (const group of groups) {
      const [first] = group.families;
      if (first !== undefined) this.#groups.set(first, group);
      for (const passage of group.passages) {
        const [part] = passage.parts;
        if (part !== undefined) this.#passages.set(part.block, passage);
      }
    }
  }

  groupFrom(first: Family): FamilyGroup | undefined {
    return this.#groups.get(first);
  }

  /** Takes the passage of these parts, if there was one. */
  take(parts: readonly PassagePart[]): Passage | undefined {
    const block = parts[0]?.block;
    const passage = block && this.#passages.get(block);
    if (block === undefined || passage === undefined || !hasSameParts(passage.parts, parts))
      return undefined;
    this.#passages.delete(block);
    return passage;
  }

  /** The passages that were not taken. */
  get left(): Iterable<Passage> {
    return this.#passages.values();
  }
}

export class FamilyGroups {
  readonly #kernel: Kernel;
  #all: readonly FamilyGroup[] = [];
  #isDivided = true;
  /** The passages that a division has made so far. */
  #made: Passage[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** In the order of the page. */
  get all(): readonly FamilyGroup[] {
    return this.#all;
  }

  /** Lines came or went. */
  reshaped(): void {
    this.#isDivided = false;
  }

  /**
   * Divides the families, a group a step. What has the same families is the same group, and passages of the
   * same blocks keep their text. A group begins where one began before, unless that would make it too short.
   */
  *dividing(families: Iterable<Family>): Generator<void, void> {
    if (this.#isDivided) return;
    this.#closeMade();
    const former = new Former(this.#all);
    const all: FamilyGroup[] = [];
    let open: Family[] = [];
    let bytes = 0;
    for (const family of families) {
      const more = sizeOf(family);
      const isFull = bytes + more > MOST_BYTES || open.length === MOST_FAMILIES;
      const isLong = bytes > MOST_BYTES / 2 || open.length > MOST_FAMILIES / 2;
      if (isFull || (isLong && former.groupFrom(family) !== undefined)) {
        if (open.length > 0) all.push(this.#groupOf(open, former));
        open = [];
        bytes = 0;
        yield;
      }
      open.push(family);
      bytes += more;
    }
    if (open.length > 0) all.push(this.#groupOf(open, former));
    this.#all = all;
    this.#made = [];
    this.#isDivided = true;
    for (const passage of former.left) {
      passage.close();
      yield;
    }
  }

  /** Frees the text of all families, which may have ended, a passage a step. */
  *closing(): Generator<void, void> {
    this.#closeMade();
    for (const group of this.#all) yield* group.closing();
    this.#all = [];
  }

  #groupOf(families: readonly Family[], former: Former): FamilyGroup {
    const [first] = families;
    const parts = families.flatMap(({ blocks, header }) =>
      blocks.map((block, index) => ({ block, header: index === 0 ? header : undefined })),
    );
    const isAlone = families.length === 1;
    const passages = (isAlone ? parts.map((part) => [part]) : [parts]).map((each) =>
      this.#passageOf(each, former),
    );
    const group = first && former.groupFrom(first);
    const isSame =
      group !== undefined &&
      hasSameItems(group.families, families) &&
      hasSameItems(group.passages, passages);
    return isSame ? group : new FamilyGroup(this.#kernel, families, passages);
  }

  #passageOf(parts: readonly PassagePart[], former: Former): Passage {
    const known = former.take(parts);
    if (known !== undefined) return known;
    const passage = new Passage(this.#kernel, parts);
    this.#made.push(passage);
    return passage;
  }

  /** Frees what a division made that was not ended. */
  #closeMade(): void {
    for (const passage of this.#made) passage.close();
    this.#made = [];
  }
}

function hasSameParts(some: readonly PassagePart[], others: readonly PassagePart[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++)
    if (some[i]?.block !== others[i]?.block || some[i]?.header !== others[i]?.header) return false;
  return true;
}
