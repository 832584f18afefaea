// Texts of a publisher as people may see them: nothing in them hides, turns or imitates what is around.

/**
 * Characters that act on a reader's screen or cannot be seen: control and format characters, those that
 * turn the direction of a text, separators but for the blank, halves of pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Words of what can be seen, with single blanks between them, that do not begin like a quoted text. */
const PLAIN = /^(?!")[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;

/** A sentence with such a text in it. */
export const sentence = (text: string): string => text.replace(UNSAFE, codeUnits);

/** In quotes, as JSON writes it. */
export const quotedText = (text: string): string => sentence(JSON.stringify(text));

/** A name as it is if it is plain, else in quotes. */
export const nameText = (name: string): string => (PLAIN.test(name) ? name : quotedText(name));

const codeUnits = (unsafe: string): string =>
  Array.from({ length: unsafe.length }, (_, i) => codeUnit(unsafe.charCodeAt(i))).join('');

const codeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
