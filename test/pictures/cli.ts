// npm run docs:pictures: takes all pictures of the documentation again, on the ports that the tutorial uses.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chromium } from '../support/browser.js';
import { PICTURES, PICTURES_FOLDER } from './pictures.js';
import { photograph } from './photograph.js';
import { Scene } from './scene.js';

const scene = await Scene.open({ exporter: 9464, prometheus: 9095, alertsWait: '1m' });
const chromium = await Chromium.start();
try {
  for (const picture of PICTURES) {
    await picture.before?.(scene);
    const { png, text } = await photograph(picture, scene, chromium);
    for (const folder of scene.folders)
      if (text.includes(folder)) throw new Error(`${picture.name} shows the folder ${folder}`);
    const file = join(PICTURES_FOLDER, `${picture.name}.png`);
    writeFileSync(file, png);
    console.log(`${file}: ${png.length} bytes`);
  }
} finally {
  await chromium.close();
  await scene.close();
}
