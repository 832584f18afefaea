// Chromium, as Debian packages it, for tests of the HTML pages.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/** Whether Chromium is installed; without it, tests are skipped. */
export const hasChromium = existsSync(EXECUTABLE);

/** Chromium with a temporary profile; `close()` ends its processes and removes the profile. */
export class Chromium {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Chromium> {
    // Chromium's sandbox refuses to run as root, the usual user in a container.
    const chromiumSandbox = process.getuid?.() !== 0;
    return new Chromium(
      await chromium.launch({ executablePath: EXECUTABLE, chromiumSandbox, timeout: 45_000 }),
    );
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const context = await this.#browser.newContext(options);
    const watched = new WatchedPage(await context.newPage());
    await watched.page.goto(url);
    return watched;
  }

  /** Closes all pages: an open page of the exporter updates itself every second. */
  async closePages(): Promise<void> {
    for (const context of this.#browser.contexts()) await context.close();
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** A page, with its console messages and requests. */
export class WatchedPage {
  readonly page: Page;
  /** Errors and warnings on the console, and uncaught errors. */
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  /** How many pixels the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  }
}
