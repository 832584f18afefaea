// How a license is refused: one fault, one line.
import { Fault } from '../errors.js';

/** @param origin where another license comes from */
export const refusal = (sentence: string, origin = ''): Fault =>
  new Fault('LICENSE_REJECTED', origin === '' ? sentence : `${sentence}; ${origin}`);
