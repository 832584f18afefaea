// How a page is compressed: line by line at the render, or its text as a whole.
import { MAX_TEXT_BYTES } from '../kernel/text-deflater.js';
import { bytesAsText } from './writing-task.js';
import type { Extent } from './writing-task.js';

/** How far back a deflate stream refers: RFC 1951, 3.2.5. */
const WINDOW_BYTES = 32_768;
/** That many lines in a block, on average, suffice there. */
const MANY_LINES = 256;

/** How a page is divided: each block refers to nothing outside. */
export interface PageShape extends Extent {
  readonly blocks: number;
}

/**
 * Whether lines compress themselves. That keeps what did not change. But where families are short, a line
 * can refer to one of the family before, which has the same labels: the page takes a third to a half less.
 */
export function compressesByLine(shape: PageShape): boolean {
  const { lines, blocks } = shape;
  const bytes = bytesAsText(shape);
  if (bytes >= WINDOW_BYTES * blocks) return true;
  return bytes > MAX_TEXT_BYTES && lines >= MANY_LINES * blocks;
}
