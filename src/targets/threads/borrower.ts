// Makes snapshots of what the thread of a partition lends.
import { codeOf } from '../../exposition/deflate/deflate-stream.js';
import { deflatedFamily, familyText } from '../../exposition/text/family-text.js';
import type { DeflatedPart, FamilyFacts, Snapshot } from '../../model.js';
import { BorrowedSnapshot } from './borrowed-snapshot.js';
import type { Lent, TextMap } from './messages.js';

/** The memory of a thread, as far as it was shown: it only grows, whichever target tells of it. */
export interface ThreadMemory {
  buffer: SharedArrayBuffer;
}

/** The snapshots of one target. */
export class Borrower {
  readonly #memory: Readonly<ThreadMemory>;
  readonly #giveBack: (id: number, times: number) => void;
  #last: BorrowedSnapshot | undefined;
  #facts: readonly FamilyFacts[] = [];
  #code: readonly number[] | undefined;
  /** Views on the pieces of the last snapshot, by address: most of them are there again. */
  #views = new Map<number, Buffer>();

  constructor(memory: Readonly<ThreadMemory>, giveBack: (id: number, times: number) => void) {
    this.#memory = memory;
    this.#giveBack = giveBack;
  }

  /** Hands what was lent to `use`; it is given back after that, unless it is held. */
  borrow(lent: Lent | undefined, use: (snapshot: Snapshot | undefined) => void): void {
    if (lent === undefined) {
      use(undefined);
      return;
    }
    if (lent.text !== undefined) this.#last = this.#read(lent.id, lent.text);
    const snapshot = this.#last;
    snapshot?.lend(() => {
      use(snapshot);
    });
  }

  #read(id: number, { facts, pieces, deflated, code, ...sizes }: TextMap): BorrowedSnapshot {
    this.#facts = facts ?? this.#facts;
    const views = new Map<number, Buffer>();
    const texts: Buffer[][] = this.#facts.map(() => []);
    for (let i = 0; i < pieces.length; i += 3) {
      const [family = 0, at = 0, length = 0] = pieces.subarray(i, i + 3);
      const known = this.#views.get(at);
      const view = known?.length === length ? known : Buffer.from(this.#memory.buffer, at, length);
      views.set(at, view);
      texts[family]?.push(view);
    }
    this.#views = views;
    // The same lengths each time, so that what is made of them is found again.
    if (code !== undefined && String(code) !== String(this.#code)) this.#code = code;
    const own = code && this.#code;
    const parts = deflated && this.#parts(deflated);
    const families = this.#facts.map((each, index) => {
      const text = sizes.forms.text ? (texts[index] ?? []) : undefined;
      return own === undefined
        ? familyText(each, text ?? [])
        : deflatedFamily(each, parts?.[index] ?? [], codeOf(own), text);
    });
    return new BorrowedSnapshot({ id, families, ...sizes, code: own }, this.#giveBack);
  }

  /** The parts of a deflate stream of each family. */
  #parts(map: Uint32Array): DeflatedPart[][] {
    const parts: DeflatedPart[][] = this.#facts.map(() => []);
    for (let i = 0; i < map.length; i += 6) {
      const [family = 0, at = 0, length = 0, bits = 0, crc = 0, bytes = 0] = map.subarray(i, i + 6);
      const data = Buffer.from(this.#memory.buffer, at, length);
      parts[family]?.push({ data, bits, crc, bytes });
    }
    return parts;
  }
}
