// Tells whether the process still grows.

/** It grows if it is larger by more than this factor than the last time. */
const GROWTH = 1.1;

/** Tells of one size after the other, in bytes, whether the process is at rest; of the first it is not. */
export function restWatch(): (bytes: number) => boolean {
  let before = 0;
  return (bytes) => {
    const isAtRest = bytes <= before * GROWTH;
    before = bytes;
    return isAtRest;
  };
}

/** Tells whether the process has grown by so many bytes since it was of a certain size, at first of none. */
export class GrowthSince {
  readonly #enough: number;
  #bytes = 0;

  constructor(enough: number) {
    this.#enough = enough;
  }

  isEnough(bytes: number): boolean {
    return bytes >= this.#bytes + this.#enough;
  }

  /** From that size on. */
  begin(bytes: number): void {
    this.#bytes = bytes;
  }
}
