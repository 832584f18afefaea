// How a page is compressed: line by line at the render, or its text as a whole.
import { MOST_TEXT_BYTES } from '../kernel/text-deflater.js';

/** How far back a deflate stream refers: RFC 1951, 3.2.5. */
const WINDOW_BYTES = 32_768;
/** That many lines in a block, on average, suffice there. */
const MANY_LINES = 256;
/** Bytes of a line beside its name and labels. */
const VALUE_BYTES = 10;

/** How a page is divided: each block refers to nothing outside. */
export interface PageShape {
  readonly lines: number;
  readonly blocks: number;
  /** Bytes of all names and labels. */
  readonly textBytes: number;
}

/**
 * Whether lines compress themselves. That keeps what did not change. But where families are short, a line
 * can refer to one of the family before, which has the same labels: the page takes a third to a half less.
 */
export function compressesByLine({ lines, blocks, textBytes }: PageShape): boolean {
  const bytes = textBytes + lines * VALUE_BYTES;
  if (bytes >= WINDOW_BYTES * blocks) return true;
  return bytes > MOST_TEXT_BYTES && lines >= MANY_LINES * blocks;
}
