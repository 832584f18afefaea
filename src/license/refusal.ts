// How a license is refused: one fault, one line.
import { Fault } from '../errors.js';

/**
 * @param origin where another license comes from
 * @param cause the system's error, if the file cannot be read
 */
export const refusal = (sentence: string, origin = '', cause?: unknown): Fault =>
  new Fault('LICENSE_REJECTED', origin === '' ? sentence : `${sentence}; ${origin}`, { cause });
