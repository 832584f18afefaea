// Generates characters and texts of all of Unicode.
import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 } as const;

/**
 * Any Unicode character except a lone surrogate. fast-check's unit `binary` generates the same characters,
 * but fills a map of 1.1 million entries in each process.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.from ? index : index + SURROGATES.count),
  (character) => {
    if (typeof character !== 'string' || !/^\P{Cs}$/u.test(character))
      throw new TypeError('not a character');
    const point = character.codePointAt(0) ?? 0;
    return point < SURROGATES.from ? point : point - SURROGATES.count;
  },
);
