// Tests that the documentation has exactly the pictures that `npm run docs:pictures` takes, and shows them.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { linksOf } from '../support/page-links.js';
import { MAX_BYTES, PICTURES, PICTURES_FOLDER, WIDTH } from './pictures.js';

/** The offset of the width in a PNG: after the signature, and the length and type of the first chunk. */
const WIDTH_AT = 16;

describe('the pictures of the documentation', () => {
  it('are exactly the pictures that npm run docs:pictures takes', () =>
    expect(readdirSync(PICTURES_FOLDER)).to.have.members(
      PICTURES.map(({ name }) => `${name}.png`),
    ));

  for (const { name } of PICTURES)
    it(`include ${name}.png, which is small and is on the page of the tutorial`, () => {
      const file = join(PICTURES_FOLDER, `${name}.png`);
      const png = readFileSync(file);
      expect(png.readUInt32BE(WIDTH_AT)).to.equal(WIDTH);
      expect(png.length).to.be.at.most(MAX_BYTES);
      expect(linksOf('docs/tutorial.md').all).to.include(file);
    });
});
