import { expect } from 'chai';
import fc from 'fast-check';
import { Fault } from '#app/errors.js';
import { parseDocument } from '#app/license/license-document.js';
import { verifyDocument } from '#app/license/license.js';
import type { License } from '#app/license/license.js';
import { loadTrustedKeys } from '#app/license/license-keys.js';
import { signedLicense } from './signed-license.js';
import { anyCharacter } from '../support/any-character.js';

describe('A license that is modified', () => {
  const keys = loadTrustedKeys();
  const read = (text: string) => verifyDocument(parseDocument(text, 'It'), 'It', keys);
  const genuine = signedLicense();
  const license = read(genuine);

  /** Returns the license in `text`, or undefined if it is refused with the right code. */
  function accepted(text: string): License | undefined {
    try {
      return read(text);
    } catch (thrown) {
      expect(thrown).to.be.instanceOf(Fault).with.property('code', 'LICENSE_REJECTED');
      return undefined;
    }
  }

  const edits = [
    ['by the replacement of a character', 1, anyCharacter],
    [
      'by the replacement of a character with an ASCII character',
      1,
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
    ],
    [
      'by the insertion of a character',
      0,
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
    ],
  ] as const;
  for (const [name, length, character] of edits)
    it(`${name} is either refused or has the same meaning`, () =>
      fc.assert(
        fc.property(fc.nat(genuine.length - 1), character, (at, put) => {
          const text = genuine.slice(0, at) + put + genuine.slice(at + length);
          expect(accepted(text) ?? license).to.deep.equal(license);
        }),
        { numRuns: 100 },
      ));

  it('by the removal of a character is always refused', () => {
    for (let at = 0; at < genuine.length; at++)
      expect(accepted(genuine.slice(0, at) + genuine.slice(at + 1)), `without ${at}`).to.equal(
        undefined,
      );
  });

  it('by a flipped bit in the base64 signature is always refused', () => {
    const start = genuine.indexOf('"signature":"') + '"signature":"'.length;
    for (let at = start; at < genuine.length - 2; at++) {
      const flipped = String.fromCharCode(genuine.charCodeAt(at) ^ 1);
      expect(accepted(genuine.slice(0, at) + flipped + genuine.slice(at + 1)), `at ${at}`).to.equal(
        undefined,
      );
    }
  });

  it('by blanks between the fields has the same meaning', () =>
    expect(accepted(genuine.replaceAll('","', '" ,\n\t"'))).to.deep.equal(license));
});
