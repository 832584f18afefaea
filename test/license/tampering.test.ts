import { expect } from 'chai';
import fc from 'fast-check';
import { Fault } from '#app/errors.js';
import { parseDocument } from '#app/license/license-document.js';
import { verifyDocument } from '#app/license/license.js';
import type { License } from '#app/license/license.js';
import { loadTrustedKeys } from '#app/license/license-keys.js';
import { signedLicense } from './signed-license.js';

describe('a license that was tampered with', () => {
  const keys = loadTrustedKeys();
  const read = (text: string) => verifyDocument(parseDocument(text, 'It'), 'It', keys);
  const genuine = signedLicense();
  const license = read(genuine);

  /** The license in `text`, or nothing when it is refused as it should be. */
  function accepted(text: string): License | undefined {
    try {
      return read(text);
    } catch (thrown) {
      expect(thrown).to.be.instanceOf(Fault).with.property('code', 'LICENSE_REJECTED');
      return undefined;
    }
  }

  const edits = [
    ['another character', 1, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })],
    ['another ASCII character', 1, fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 })],
    ['one character more', 0, fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 })],
  ] as const;
  for (const [name, length, character] of edits)
    it(`${name} is refused or changes nothing of what it says`, () =>
      fc.assert(
        fc.property(fc.nat(genuine.length - 1), character, (at, put) => {
          const text = genuine.slice(0, at) + put + genuine.slice(at + length);
          expect(accepted(text) ?? license).to.deep.equal(license);
        }),
        { numRuns: 100 },
      ));

  it('one character less is always refused', () => {
    for (let at = 0; at < genuine.length; at++)
      expect(accepted(genuine.slice(0, at) + genuine.slice(at + 1)), `without ${at}`).to.equal(
        undefined,
      );
  });

  it('one bit of the signature in base64 is always refused', () => {
    const start = genuine.indexOf('"signature":"') + '"signature":"'.length;
    for (let at = start; at < genuine.length - 2; at++) {
      const flipped = String.fromCharCode(genuine.charCodeAt(at) ^ 1);
      expect(accepted(genuine.slice(0, at) + flipped + genuine.slice(at + 1)), `at ${at}`).to.equal(
        undefined,
      );
    }
  });

  it('blanks between the fields change nothing', () =>
    expect(accepted(genuine.replaceAll('","', '" ,\n\t"'))).to.deep.equal(license));
});
