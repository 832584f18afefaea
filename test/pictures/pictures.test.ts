// The pictures of the documentation can be taken anew and show what they are to show; no byte of them is compared.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Chromium, hasChromium } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { linksOf } from '../support/page-links.js';
import { MAX_BYTES, PICTURES, PICTURES_FOLDER, WIDTH } from './pictures.js';
import { photograph } from './photograph.js';
import { chunksOf } from './png-pixels.js';
import { Scene } from './scene.js';
import { needs, needsPrograms } from '../support/needs.js';

const widthOf = (png: Buffer): number => chunksOf(png).get('IHDR')?.[0]?.readUInt32BE(0) ?? 0;

describe('the pictures of the documentation', function () {
  this.slow(20_000);

  it('are those that the project takes', () =>
    expect(readdirSync(PICTURES_FOLDER)).to.have.members(
      PICTURES.map(({ name }) => `${name}.png`),
    ));

  for (const { name } of PICTURES)
    it(`are small, and shown by the tutorial: ${name}`, () => {
      const file = join(PICTURES_FOLDER, `${name}.png`);
      const png = readFileSync(file);
      expect(widthOf(png)).to.equal(WIDTH);
      expect(png.length).to.be.at.most(MAX_BYTES);
      expect(linksOf('docs/tutorial.md').all).to.include(file);
    });

  describe('taken anew', () => {
    let scene: Scene | undefined;
    let chromium: Chromium | undefined;

    before(async function () {
      needs(this, hasChromium, 'chromium is not installed');
      needsPrograms(this, 'prometheus');
      const [exporter, prometheus] = [await freePort(), await freePort()];
      scene = await Scene.open({ exporter, prometheus, alertsWait: '1s' });
      chromium = await Chromium.start();
    });
    after(async () => {
      await chromium?.close();
      await scene?.close();
    });

    for (const picture of PICTURES)
      it(`show what they are to show, and no folder of this machine: ${picture.name}`, async () => {
        if (scene === undefined || chromium === undefined) throw new Error('There is no scene');
        await picture.before?.(scene);
        const { png, text } = await photograph(picture, scene, chromium);
        expect(widthOf(png)).to.equal(WIDTH);
        expect(png.length).to.be.at.most(MAX_BYTES);
        for (const folder of scene.folders) expect(text).not.to.include(folder);
      });
  });
});
