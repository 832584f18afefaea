// The deflate streams of pages: each is kept for as long as its families, and its memory is used again.
import type { Deflated, FamilyFacts, FamilyText } from '../../model.js';

/** Streams of pages that begin with the same family; more than these are not used again. */
const MAX_STREAMS = 4;

interface Kept {
  readonly families: readonly FamilyText[];
  readonly memory: Uint32Array;
  readonly stream: Deflated;
  /** How many responses are sending it. */
  holders: number;
}

/** Makes a stream in at least that many words of memory. */
export type MakeStream = (memoryFor: (words: number) => Uint32Array) => Deflated;

export class StreamCache {
  readonly #known = new WeakMap<readonly FamilyText[], Kept>();
  /** By the first family, whose facts stay while its text changes; least recently made first. */
  readonly #kept = new WeakMap<FamilyFacts, Kept[]>();

  /** The stream of these families; whoever sends it holds it meanwhile. */
  get(families: readonly FamilyText[], make: MakeStream): Deflated {
    const known = this.#known.get(families);
    if (known !== undefined) return known.stream;
    let memory: Uint32Array = new Uint32Array(0);
    const stream = make((words) => (memory = this.#memoryFor(families, words)));
    const kept: Kept = {
      families,
      memory,
      stream: { ...stream, hold: () => holding(kept) },
      holders: 0,
    };
    this.#known.set(families, kept);
    const all = this.#of(families);
    if (all.push(kept) > MAX_STREAMS) all.shift();
    return kept.stream;
  }

  /** That of a stream that nobody sends, if it is about as large. */
  #memoryFor(families: readonly FamilyText[], words: number): Uint32Array {
    const all = this.#of(families);
    const index = all.findIndex(
      ({ holders, memory: { length } }) => holders === 0 && length >= words && length <= 2 * words,
    );
    const [idle] = index < 0 ? [] : all.splice(index, 1);
    if (idle !== undefined) {
      this.#known.delete(idle.families);
      return idle.memory;
    }
    // A little more than is needed now, for longer numbers; memory that is not cleared.
    const { buffer, byteOffset } = Buffer.allocUnsafeSlow(Math.ceil(words * 1.125) * 4);
    return new Uint32Array(buffer, byteOffset);
  }

  #of(families: readonly FamilyText[]): Kept[] {
    const [first] = families;
    if (first === undefined) return [];
    const all = this.#kept.get(first.facts) ?? [];
    this.#kept.set(first.facts, all);
    return all;
  }
}

function holding(kept: Kept): () => void {
  kept.holders++;
  let isHeld = true;
  return () => {
    if (isHeld) kept.holders--;
    isHeld = false;
  };
}
