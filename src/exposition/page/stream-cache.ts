// The deflate streams of pages that are alike: each is kept for as long as what it is made of, and its memory is used
// again.
import type { Deflated } from '../../model.js';

/** More than these are not used again. */
const MAX_STREAMS = 4;

interface Kept {
  readonly of: object;
  readonly memory: Uint32Array;
  readonly stream: Deflated;
  /** How many responses are sending it. */
  holders: number;
}

/** Makes a stream in at least that many words of memory. */
export type MakeStream = (memoryFor: (words: number) => Uint32Array) => Deflated;

export class StreamCache {
  readonly #known = new WeakMap<object, Kept>();
  /** Least recently made first. */
  readonly #kept: Kept[] = [];

  /**
   * The stream of something; whoever sends it holds it meanwhile.
   * @param of the same object while the stream is the same
   */
  get(of: object, make: MakeStream): Deflated {
    const known = this.#known.get(of);
    if (known !== undefined) return known.stream;
    let memory: Uint32Array = new Uint32Array(0);
    const stream = make((words) => (memory = this.#memoryFor(words)));
    const kept: Kept = {
      of,
      memory,
      stream: { ...stream, hold: () => holding(kept) },
      holders: 0,
    };
    this.#known.set(of, kept);
    if (this.#kept.push(kept) > MAX_STREAMS) this.#kept.shift();
    return kept.stream;
  }

  /** That of a stream that nobody sends, if it is about as large. */
  #memoryFor(words: number): Uint32Array {
    const all = this.#kept;
    const index = all.findIndex(
      ({ holders, memory: { length } }) => holders === 0 && length >= words && length <= 2 * words,
    );
    const [idle] = index < 0 ? [] : all.splice(index, 1);
    if (idle !== undefined) {
      this.#known.delete(idle.of);
      return idle.memory;
    }
    // A little more than is needed now, for longer numbers; memory that is not cleared.
    const { buffer, byteOffset } = Buffer.allocUnsafeSlow(Math.ceil(words * 1.125) * 4);
    return new Uint32Array(buffer, byteOffset);
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
