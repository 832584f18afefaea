// The kernel's memory: an arena of size classes with free lists, and texts that many lines share.

/** Sizes are rounded up to a quarter of a power of two, so that at most a fifth is wasted. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return Math.max(16, Math.ceil(bytes / 16) * 16);
  const power = 2 ** Math.floor(Math.log2(bytes - 1));
  const quarter = power / 4;
  return Math.ceil(bytes / quarter) * quarter;
}

export class Arena {
  readonly #free = new Map<number, number[]>();
  readonly #grow: (bytes: number) => number;
  #top: number;
  #end: number;
  #used = 0;

  /** @param grow adds at least that many bytes and returns how many */
  constructor(start: number, end: number, grow: (bytes: number) => number) {
    this.#top = start;
    this.#end = end;
    this.#grow = grow;
  }

  /** Allocated bytes, rounded to size classes. */
  get used(): number {
    return this.#used;
  }

  /** Allocates `bytes` bytes of undefined content; returns an address, a multiple of 16. */
  take(bytes: number): number {
    const size = sizeClass(bytes);
    const at = this.#free.get(size)?.pop() ?? this.#fresh(size);
    this.#used += size;
    return at;
  }

  /** Allocates memory for what uses it; frees it again if that fails, for instance where there is no memory for more. */
  takeFor<T>(bytes: number, use: (at: number) => T): T {
    const at = this.take(bytes);
    try {
      return use(at);
    } catch (error) {
      this.give(at, bytes);
      throw error;
    }
  }

  /**
   * The same as `take`, of zeros. Memory that was never used has them, and takes no memory of the machine before
   * it is.
   * @param clear writes zeros from an address to another
   */
  takeZeros(bytes: number, clear: (from: number, to: number) => void): number {
    const size = sizeClass(bytes);
    const isUsed = (this.#free.get(size)?.length ?? 0) > 0;
    const at = this.take(bytes);
    if (isUsed) clear(at, at + bytes);
    return at;
  }

  /** Frees what `take(bytes)` allocated. */
  give(at: number, bytes: number): void {
    const size = sizeClass(bytes);
    this.#used -= size;
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [at]);
    else list.push(at);
  }

  #fresh(size: number): number {
    const missing = this.#top + size - this.#end;
    if (missing > 0) this.#end += this.#grow(missing);
    const at = this.#top;
    this.#top += size;
    return at;
  }
}

/** The number of holders, and that of bytes. */
const HEAD_BYTES = 8;

/** The memory of the texts. */
interface Memory {
  readonly arena: Arena;
  readonly u32: Uint32Array;
  window(at: number, bytes: number): Buffer;
}

export class TextStore {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Stores a text with so many holders, who give it back; returns its address. */
  store(text: string, holders = 1): number {
    const length = Buffer.byteLength(text);
    const at = this.#memory.arena.take(HEAD_BYTES + length);
    const { u32 } = this.#memory;
    u32[at >>> 2] = holders;
    u32[(at >>> 2) + 1] = length;
    this.#memory.window(at + HEAD_BYTES, length).write(text, 'utf8');
    return at;
  }

  /** Frees the text with its last holder. */
  release(at: number): void {
    const { u32 } = this.#memory;
    const holders = (u32[at >>> 2] ?? 0) - 1;
    u32[at >>> 2] = holders;
    if (holders === 0) this.#memory.arena.give(at, HEAD_BYTES + this.lengthOf(at));
  }

  holders(at: number): number {
    return this.#memory.u32[at >>> 2] ?? 0;
  }

  /** The number of its bytes. */
  lengthOf(at: number): number {
    return this.#memory.u32[(at >>> 2) + 1] ?? 0;
  }
}

/** A text for many lines; the kernel's memory has it from its first use until `close()`. */
export class SharedText {
  readonly #texts: TextStore;
  readonly text: string;
  #at = 0;
  #hash: TextHash | undefined;

  constructor(texts: TextStore, text: string) {
    this.#texts = texts;
    this.text = text;
  }

  /** Its address. Whoever keeps it counts as a holder, and releases it. */
  get address(): number {
    if (this.#at === 0) this.#at = this.#texts.store(this.text);
    return this.#at;
  }

  /** Whether a line has it. */
  get isUsed(): boolean {
    return this.#at !== 0 && this.#texts.holders(this.#at) > 1;
  }

  get hash(): TextHash {
    return (this.#hash ??= hashOf(this.text));
  }

  /** Call it when no further line needs the text. */
  close(): void {
    if (this.#at !== 0) this.#texts.release(this.#at);
    this.#at = 0;
  }
}

/** Two hashes of 32 bits, signed: V8 keeps these without an object of their own. */
export interface TextHash {
  readonly a: number;
  readonly b: number;
}

/** FNV-1a, and a variant of it. */
export function hashOf(text: string): TextHash {
  let a = 0x811c9dc5;
  let b = 0x3c6ef372;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x5bd1e995);
    b ^= b >>> 15;
  }
  return { a: a | 0, b: b | 0 };
}
