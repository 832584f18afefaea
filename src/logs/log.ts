// Log lines for stderr.
import type { TargetEvent } from '../model.js';

/** The most characters of a message that are written. */
const MAX_CHARACTERS = 16_384;

/** Makes a writer of lines `time level message`; debug lines only if they are enabled. */
export function logger(
  write: (line: string) => void,
  now: () => Date,
  isDebug: boolean,
): (event: TargetEvent) => void {
  return ({ level, message }) => {
    if (level !== 'debug' || isDebug)
      write(`${now().toISOString()} ${level} ${oneLine(message)}\n`);
  };
}

/**
 * A message without what a terminal would obey or a reader take for another line. Messages hold
 * names that publishers chose.
 */
function oneLine(message: string): string {
  const parts = message.slice(0, MAX_CHARACTERS).split(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  const cut = message.length - MAX_CHARACTERS;
  return cut > 0 ? `${text} … and ${cut} characters more` : text;
}
