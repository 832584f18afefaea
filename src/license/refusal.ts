// How a license is refused: one fault, one line.
import { Fault } from '../errors.js';

export const refusal = (sentence: string): Fault => new Fault('LICENSE_REJECTED', sentence);
