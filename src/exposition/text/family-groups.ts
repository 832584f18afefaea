// Divides the families of a text into groups, and divides them again when lines came or went.
import type { FamilyFacts } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { hasSameItems } from '../same-items.js';
import type { Block } from './block.js';
import type { Family } from './family.js';
import { FamilyGroup, MAX_BYTES } from './family-group.js';
import { Passage } from './passage.js';
import type { PassagePart } from './passage.js';
import { bytesAsText } from './writing-task.js';

/** A group of several has at most so many when it is made, and about `MAX_BYTES`; two become one at half of that. */
const MAX_FAMILIES = 64;
/** To look at so many families takes some hundredths of a millisecond. */
const FAMILIES_A_STEP = 64;

/** Without borders of before, so many full groups are divided at once. */
const MAX_FULL = 4;

/** A family, and about how many bytes it is. */
interface Sized {
  readonly family: Family;
  readonly size: number;
}

/** Families that follow each other, and about how many bytes they are together. */
interface Row {
  readonly families: readonly Family[];
  readonly bytes: number;
}

const sizeOf = (family: Family): number => bytesAsText(family) + family.header.bytes;

/** How much of a group so many families and bytes are: 1 is a full one. */
const fullness = (families: number, bytes: number): number =>
  Math.max(families / MAX_FAMILIES, bytes / MAX_BYTES);

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
  #facts: readonly FamilyFacts[] = [];
  #isDivided = true;
  /** The passages that a division has made so far. */
  #made: Passage[] = [];
  /** Those of the division before that nothing needs any more. */
  #leaving: Passage[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** In the order of the page. */
  get all(): readonly FamilyGroup[] {
    return this.#all;
  }

  /** Of all families: the same list until they are divided anew. */
  get facts(): readonly FamilyFacts[] {
    return this.#facts;
  }

  /** Blocks came or went, or a group is too large: the families are divided anew before the next render. */
  reshaped(): void {
    this.#isDivided = false;
  }

  /**
   * Divides the families, in small steps. What has the same families is the same group, and passages of the same
   * blocks keep their text: borders stay, but that a group which became too large is divided evenly, and that
   * two which became small are one.
   */
  *dividing(families: Iterable<Family>): Generator<void, void> {
    yield* this.#leave();
    if (this.#isDivided) return;
    this.#closeMade();
    const former = new Former(this.#all);
    const all: FamilyGroup[] = [];
    for (const row of yield* rowsOf(families, former)) {
      all.push(this.#groupOf(row, former));
      yield;
    }
    this.#all = all;
    this.#facts = all.flatMap((group) => group.families.map(({ facts }) => facts));
    this.#made = [];
    this.#leaving = [...former.left];
    this.#isDivided = true;
    yield* this.#leave();
  }

  /** Frees the text of all families, which may have ended, a passage a step. */
  *closing(): Generator<void, void> {
    yield* this.#leave();
    this.#closeMade();
    for (const group of this.#all) yield* group.closing();
    this.#all = this.#facts = [];
  }

  #groupOf({ families }: Row, former: Former): FamilyGroup {
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

  *#leave(): Generator<void, void> {
    for (let last = this.#leaving.pop(); last !== undefined; last = this.#leaving.pop()) {
      last.close();
      yield;
    }
  }

  /** Frees what a division made that was not ended. */
  #closeMade(): void {
    for (const passage of this.#made) passage.close();
    this.#made = [];
  }
}

/** The families of each group. */
function* rowsOf(families: Iterable<Family>, former: Former): Generator<void, readonly Row[]> {
  const rows: Row[] = [];
  /** Those since the last border. */
  let open: Sized[] = [];
  let bytes = 0;
  const close = (): void => {
    for (const row of divided(open, bytes)) {
      const last = rows.at(-1);
      if (last !== undefined && areSmall(last, row)) rows[rows.length - 1] = joined(last, row);
      else rows.push(row);
    }
    open = [];
    bytes = 0;
  };
  let passed = 0;
  for (const family of families) {
    if (++passed % FAMILIES_A_STEP === 0) yield;
    const size = sizeOf(family);
    const isLong = size > MAX_BYTES;
    const isBorder = former.groupFrom(family) !== undefined;
    if (isLong || isBorder || fullness(open.length, bytes) >= MAX_FULL) close();
    open.push({ family, size });
    bytes += size;
    if (isLong) close();
  }
  close();
  return rows;
}

/** The families in as few rows as may be, each about as large as the others. */
function divided(all: readonly Sized[], allBytes: number): readonly Row[] {
  const whole = fullness(all.length, allBytes);
  const share = whole / Math.ceil(whole);
  const rows: Row[] = [];
  let families: Family[] = [];
  let bytes = 0;
  let passed = 0;
  let passedBytes = 0;
  for (const { family, size } of all) {
    const isDue = fullness(passed, passedBytes) >= share * (rows.length + 1);
    if (isDue || fullness(families.length + 1, bytes + size) > 1) {
      if (families.length > 0) rows.push({ families, bytes });
      families = [];
      bytes = 0;
    }
    families.push(family);
    bytes += size;
    passed++;
    passedBytes += size;
  }
  if (families.length > 0) rows.push({ families, bytes });
  return rows;
}

/** Whether two rows become one, with room for more. */
const areSmall = (a: Row, b: Row): boolean =>
  fullness(a.families.length + b.families.length, a.bytes + b.bytes) <= 1 / 2;

const joined = (a: Row, b: Row): Row => ({
  families: [...a.families, ...b.families],
  bytes: a.bytes + b.bytes,
});

function hasSameParts(some: readonly PassagePart[], others: readonly PassagePart[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++)
    if (some[i]?.block !== others[i]?.block || some[i]?.header !== others[i]?.header) return false;
  return true;
}
