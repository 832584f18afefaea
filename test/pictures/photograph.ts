// Takes a picture in a real browser once the page shows what the picture must show.
import type { Chromium } from '../support/browser.js';
import { WIDTH } from './pictures.js';
import type { Picture } from './pictures.js';
import type { Scene } from './scene.js';

const WITHIN_MS = 45_000;

/** A picture as a PNG, and the text of the whole page. */
export interface Photograph {
  readonly png: Buffer;
  readonly text: string;
}

/** @throws Error if the picture would not contain everything that it must show */
export async function photograph(
  { height, url, act, shows }: Picture,
  scene: Scene,
  chromium: Chromium,
): Promise<Photograph> {
  const viewport = { width: WIDTH, height };
  const { page } = await chromium.open(url(scene), { viewport, colorScheme: 'light' });
  await act?.(page);
  for (const selector of shows) {
    const shown = page.locator(selector).first();
    await shown.waitFor({ timeout: WITHIN_MS });
    const box = await shown.boundingBox();
    if (box === null || box.y < 0 || box.y + box.height > height)
      throw new Error(
        `${selector} is not within the upper ${height} pixels: ${JSON.stringify(box)}`,
      );
  }
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const text = await page.locator('body').innerText();
  await page.context().close();
  return { png, text };
}
