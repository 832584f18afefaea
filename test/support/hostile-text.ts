// Generates texts that a malicious publisher might choose.
import fc from 'fast-check';
import { anyCharacter } from './any-character.js';

export const hostileText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...Array.from('<>&"\'`=/ .\u202e\u200b\u0000\n'), 'script') }),
);
