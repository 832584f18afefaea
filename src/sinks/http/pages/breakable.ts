// Texts on a page that are broken only where they may be.
import { markup } from './html.js';
import type { Html } from './html.js';

/**
 * Words that break after the dots of an id and nowhere else; a dot within a number is none.
 * @param text safe to show
 */
export const breakable = (text: string): readonly Html[] =>
  text.split(/(?<=\s)(?=\S)/).map((word) => {
    const pieces = word.split(/(?<=\.)(?<!\d\.(?=\d))(?=[^\s.])/);
    return markup`${pieces.map((piece, i) => markup`${i === 0 ? undefined : WBR}${whole(piece)}`)}`;
  });

const WBR = markup`<wbr>`;

/** A browser breaks a word at some signs too, as at a hyphen. */
const whole = (piece: string): Html | string =>
  /[^\w.,:;()\s]/.test(piece) ? markup`<span class="whole">${piece}</span>` : piece;
