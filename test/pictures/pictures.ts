// The pictures of the documentation: the page that each one shows, and the elements that it must contain.
import type { Page } from 'playwright-core';
import type { Scene } from './scene.js';

export const PICTURES_FOLDER = 'docs/pictures';
/** In pixels. */
export const WIDTH = 1000;
export const MAX_BYTES = 100 * 1024;

export interface Picture {
  /** The name of the file, without `.png`. */
  readonly name: string;
  /** The height in pixels. A longer page is cut off. */
  readonly height: number;
  /** Changes the scene after the previous picture. */
  readonly before?: (scene: Scene) => Promise<void>;
  readonly url: (scene: Scene) => string;
  /** Acts as a user of the page would. */
  readonly act?: (page: Page) => Promise<void>;
  /** What the picture must show, as Playwright selectors. */
  readonly shows: readonly string[];
}

/** The pictures in the order in which they are taken. */
export const PICTURES: readonly Picture[] = [
  {
    name: 'status',
    height: 460,
    url: ({ exporter }) => `${exporter}/`,
    shows: ['#summary:text("The target is ready")', '#target-0 .state:text("ready")'],
  },
  {
    name: 'tree',
    height: 640,
    url: ({ exporter }) => `${exporter}/tree?server_key=82&q=clients`,
    shows: ['#q', 'tbody >> text=/ads_\\w*clients/'],
  },
  {
    name: 'alert',
    height: 780,
    before: (scene) => scene.killSimulator(),
    url: ({ prometheus }) => `${prometheus}/classic/alerts`,
    act: async (page) => {
      await page.getByText('Inactive (').click();
      await page.locator('b', { hasText: 'ShmPublisherDead' }).click();
    },
    shows: ['b:text("ShmPublisherDead")', 'text=server_key="82"', 'text=firing'],
  },
  {
    name: 'graph',
    height: 800,
    before: async (scene) => {
      await scene.startSimulator();
      await scene.openShop();
    },
    url: ({ prometheus }) =>
      `${prometheus}/classic/graph?g0.expr=shop_till_sales_total&g0.tab=0&g0.range_input=1m`,
    shows: ['.graph svg path', 'text=server_key="shop"'],
  },
];
