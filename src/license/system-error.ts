// What the system said when a file could not be used.
import { messageOf } from '../errors.js';

/** The code, such as `EACCES`: what matters of a system error whose file the sentence names. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : messageOf(thrown);
