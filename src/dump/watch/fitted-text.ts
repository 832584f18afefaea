// Texts in the columns of a terminal.

/** Characters that stand on the one before them. */
const NO_COLUMN = /\p{M}/u;
/** Most that take two columns: of East Asia, and pictures. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** A text in exactly so many columns: filled with blanks, or cut, with a sign of that at its end. */
export function fittedText(text: string, columns: number): string {
  let fitting = '';
  let beforeSign = '';
  let used = 0;
  let usedBeforeSign = 0;
  for (const character of text) {
    const next = used + columnsOf(character);
    if (next > columns)
      return columns < 1 ? '' : `${beforeSign}…${' '.repeat(columns - 1 - usedBeforeSign)}`;
    fitting += character;
    used = next;
    if (next < columns) [beforeSign, usedBeforeSign] = [fitting, used];
  }
  return fitting + ' '.repeat(columns - used);
}

const columnsOf = (character: string): number =>
  NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
