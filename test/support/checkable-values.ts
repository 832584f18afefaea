// Values that are a pure function of a count, so that a reader can detect a torn value.
export const BOUNDS = Array.from({ length: 60 }, (_, index) => index);
export const QUANTILES = Array.from({ length: 30 }, (_, index) => index / 30);

/** A text whose length and repeated letter depend on the count. */
export const textOf = (count: number): string =>
  `${count}:${String.fromCharCode(97 + (count % 26)).repeat((count * 37) % 4000)}`;
