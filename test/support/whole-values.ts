// Values that are a pure function of a count: a reader can tell a torn one from a whole one.
export const BOUNDS = Array.from({ length: 60 }, (_, index) => index);
export const QUANTILES = Array.from({ length: 30 }, (_, index) => index / 30);

/** A text of a length that depends on the count, of one letter that depends on it too. */
export const textOf = (count: number): string =>
  `${count}:${String.fromCharCode(97 + (count % 26)).repeat((count * 37) % 4000)}`;
