// What somebody searches for, as words.

/** In lower case; each must be found. */
export const searchWords = (text: string): readonly string[] =>
  text.toLowerCase().split(/\s+/).filter(Boolean);
