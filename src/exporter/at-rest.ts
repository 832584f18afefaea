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
