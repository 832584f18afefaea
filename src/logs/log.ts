// Log lines for stderr.
import type { TargetEvent } from '../model.js';

/** Makes a writer of lines `time level message`; debug lines only if they are enabled. */
export function logger(
  write: (line: string) => void,
  now: () => Date,
  isDebug: boolean,
): (event: TargetEvent) => void {
  return ({ level, message }) => {
    if (level !== 'debug' || isDebug)
      write(`${now().toISOString()} ${level} ${message.replace(/\s*\n\s*/g, ' ')}\n`);
  };
}
