// Tests the HTML pages in a real Chromium: updates, layout and accessibility.
import axe from 'axe-core';
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { Publisher } from '#app/native/publisher/publisher.js';
import { Chromium, hasChromium } from '../support/browser.js';
import type { WatchedPage } from '../support/browser.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { readyPage } from './page.js';
import { needs } from '../support/needs.js';

const ROOT = 'live-till-3.lon-prod.example.com.1.shop';
const WIDE = { viewport: { width: 1280, height: 800 } } as const;
const NARROW = { viewport: { width: 400, height: 800 } } as const;

/** Publishes a shop, whose last value is missing until a test sets it. */
class Shop {
  readonly #publisher: Publisher;
  readonly #isOpen: { set(value: boolean): unknown };
  readonly #beat: NodeJS.Timeout;

  constructor(contextId: string, serverKey: string) {
    const realtimeNs = () => BigInt(Date.now()) * 1_000_000n;
    const publisher = new Publisher({ contextId, serverKey, pid: process.pid, realtimeNs });
    const root = publisher.addRoot(ROOT, 'Shop');
    const till = publisher.addObject(root, `${ROOT}.tills.front-left`, 'Till.Front');
    publisher.addVariable(till, 'sales', 'u64', { help: 'Sales of the day.' }).set(12n);
    publisher.addVariable(till, 'cashier', 'string').set('<img src=x onerror=alert(1)>\u202e');
    this.#isOpen = publisher.addVariable(till, 'isOpen', 'bool');
    publisher.place();
    this.#publisher = publisher;
    this.#beat = setInterval(() => {
      publisher.notify();
    }, 500);
  }

  open(): void {
    this.#isOpen.set(true);
    this.#publisher.notify();
  }

  close(): void {
    clearInterval(this.#beat);
    this.#publisher.close();
  }
}

describe('the HTML pages in Chromium', function () {
  this.slow(20_000);
  const programs = testPrograms();
  const shops: Shop[] = [];
  let chromium: Chromium | undefined;
  let exporter: Running | undefined;
  let origin = '';

  before(async function () {
    needs(this, hasChromium, 'chromium is not installed');
    programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '20', '--rate', '2');
    shops.push(new Shop(programs.contextId, '90'), new Shop(programs.contextId, '91'));
    const targets = [
      ...[
        ['ads', '82'],
        ['shop', '90'],
        ['shop', '91'],
        ['ats', '999'],
      ],
    ].map(([app = '', key = '']) => `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`);
    const scopes = [
      ['clients', '*_num_clients'],
      ['nothing', 'ats_*'],
    ].map(
      ([name = '', metrics = '']) =>
        `[[metric_scopes]]\nname = "${name}"\nmetrics = ["${metrics}"]\n`,
    );
    const config = programs.config({}, [...targets, ...scopes].join(''));
    exporter = programs.start('exporter', ['--config', config]);
    origin = new URL(await exporter.url()).origin;
    await readyPage(`${origin}/metrics?server_key=82`);
    chromium = await Chromium.start();
  });
  afterEach(() => chromium?.closePages());
  after(async () => {
    await chromium?.close();
    for (const each of shops) each.close();
  });

  const open = async (
    path: string,
    options: BrowserContextOptions = WIDE,
  ): Promise<WatchedPage> => {
    if (chromium === undefined) throw new Error('no browser');
    return chromium.open(origin + path, options);
  };
  /** Returns the text that shows a row's state. */
  const stateOf = ({ page }: WatchedPage, row: string) =>
    page.locator(`#${row} .state`).textContent();

  it('show a ready target in two lines on a wide screen', async () => {
    const { page } = await open('/');
    const { height = 0 } = (await page.locator('#target-0').boundingBox()) ?? {};
    expect(height, await page.locator('#target-0').innerText()).to.be.within(40, 70);
  });

  it('show the reason for a missing root across the whole width of the table', async () => {
    const { page } = await open('/', { viewport: { width: 1100, height: 800 } });
    const reason = page.locator('tr.reason', { hasText: 'a root of application ats' });
    const [box, table] = [
      await reason.boundingBox(),
      await page.locator('table.targets').boundingBox(),
    ];
    expect(box?.width).to.equal(table?.width);
    expect(box?.height, await reason.innerText()).to.be.below(60);
  });

  it('show without a reload that a target becomes ready, and keep focus and scroll position', async () => {
    const watched = await open('/', { viewport: { width: 1280, height: 300 } });
    const { page } = watched;
    expect(await stateOf(watched, 'target-1')).to.equal('syncing');
    expect(await page.locator('#target-1 progress').getAttribute('value')).to.equal('4');
    expect(await page.locator('#summary').textContent()).to.equal('3 of 4 targets not ready');
    await page.evaluate('window.isSame = true');
    await page.locator('#target-0 a', { hasText: 'tree' }).focus();
    await page.evaluate('window.scrollTo(0, 200)');
    shops[0]?.open();
    await waitFor('the page says so', async () =>
      (await stateOf(watched, 'target-1')) === 'ready' ? true : undefined,
    );
    expect(await page.locator('#summary').textContent()).to.equal('2 of 4 targets not ready');
    expect(await page.title()).to.equal('2 not ready · shm_exporter');
    const kept = await page.evaluate(
      '({ isSame: window.isSame, focus: document.activeElement.href, y: window.scrollY })',
    );
    expect(kept).to.deep.equal({ isSame: true, focus: `${origin}/tree?server_key=82`, y: 200 });
    expect(watched.complaints).to.deep.equal([]);
    expect(watched.requests.length).to.be.above(1);
    for (const each of watched.requests) expect(each).to.match(/^data:|^http:\/\/127\.0\.0\.1:/);
    expect(new Set(watched.requests.filter((each) => !each.startsWith('data:')))).to.deep.equal(
      new Set([`${origin}/`]),
    );
  });

  it('stop updates while hidden, and resume immediately when visible', async () => {
    const watched = await open('/');
    const asked = () => watched.requests.filter((each) => each === `${origin}/`).length;
    await waitFor('it updates itself', () => (asked() >= 2 ? true : undefined));
    const look = (isHidden: boolean) =>
      watched.page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await look(true);
    const before = asked();
    await watched.page.waitForTimeout(2500);
    expect(asked()).to.be.at.most(before + 1);
    const hidden = asked();
    await look(false);
    await waitFor('it goes on', () => (asked() > hidden ? true : undefined));
  });

  it('have no link that answers 404', async () => {
    const { page } = await open('/');
    const links = await page
      .locator('a')
      .evaluateAll((all) => all.map((each) => (each as unknown as { href: string }).href));
    expect(links.filter((each) => each.includes('/metrics/clients'))).to.have.lengthOf(1);
    expect(links.filter((each) => each.includes('/metrics/nothing'))).to.have.lengthOf(0);
    expect(links.filter((each) => each.includes('/tree'))).to.have.lengthOf(4);
    for (const each of links) {
      const { status } = await fetch(each);
      expect(status, each).to.be.oneOf(each.includes('server_key=82') ? [200] : [200, 503]);
    }
  });

  describe('let a user search for values', () => {
    for (const javaScriptEnabled of [true, false])
      it(javaScriptEnabled ? 'by keyboard' : 'without scripts', async () => {
        const watched = await open('/', { ...WIDE, javaScriptEnabled });
        const { page } = watched;
        await page.locator('#target-2 a', { hasText: 'tree' }).click();
        await page.locator('#q').focus();
        await page.keyboard.type('onerror');
        await page.keyboard.press('Enter');
        await page.waitForURL('**/tree?*q=onerror*');
        const rows = page.locator('tbody tr');
        expect(await rows.count()).to.equal(2);
        expect(await rows.nth(1).textContent()).to.contain('"<img src=x onerror=alert(1)>\\u202e"');
        expect(await page.locator('img').count()).to.equal(0);
        await page.locator('tbody a').click();
        await page.waitForURL('**/tree?*object=*');
        expect(await page.locator('tbody tr').count()).to.equal(4);
        expect(watched.complaints).to.deep.equal([]);
      });

    it('with live updates of the results', async () => {
      const watched = await open('/tree?server_key=91&object=tills.front-left&live=1');
      const { page } = watched;
      const text = () => page.locator('tbody').textContent();
      expect(await text()).to.contain('(not synced)');
      shops[1]?.open();
      await waitFor('the value is there', async () =>
        (await text())?.includes('true') === true ? true : undefined,
      );
      expect(watched.complaints).to.deep.equal([]);
    });
  });

  const PATHS = ['/', '/tree?server_key=82', '/tree?server_key=90&q=sales', '/tree'] as const;
  const SCREENS: readonly (readonly [string, BrowserContextOptions])[] = [
    ['wide and light', WIDE],
    ['narrow and dark', { ...NARROW, colorScheme: 'dark' }],
  ];
  for (const [what, options] of SCREENS)
    for (const path of PATHS)
      it(`at "${path}" fit a ${what} screen and are accessible`, async () => {
        const watched = await open(path, options);
        await expectFitting(watched);
      });

  it('list the largest metrics of a target at a click, also after an update', async () => {
    const watched = await open('/', NARROW);
    const { page } = watched;
    await page.locator('#target-0 summary').click();
    const list = page.locator('#target-0 details li');
    expect(await list.count()).to.equal(10);
    await expectFitting(watched);
    const updates = () => watched.requests.filter((each) => each === `${origin}/`).length;
    await waitFor('two updates', () => (updates() > 2 ? true : undefined));
    expect(await list.first().isVisible()).to.equal(true);
  });

  it('begin with a link to the main content, and outline the focused element', async () => {
    const { page } = await open('/');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal(
      'Skip to the targets',
    );
    expect(await page.locator('.skip').boundingBox())
      .to.have.property('x')
      .that.is.at.least(0);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).to.equal(
      'solid',
    );
    await page.keyboard.press('Enter');
    expect(await page.evaluate('location.hash')).to.equal('#targets');
  });

  describe('after the exporter ended', () => {
    it('show when the exporter stopped answering', async () => {
      const watched = await open('/');
      await exporter?.stop('SIGTERM');
      const note = watched.page.locator('#offline');
      await waitFor('it says so', async () => ((await note.isVisible()) ? true : undefined));
      expect(await note.textContent()).to.match(
        /^No answer from the exporter since .*\. The page shows the values of that time\.$/,
      );
      expect(await watched.page.locator('tbody th[scope=row]').count()).to.equal(4);
    });
  });
});

describe('the status page of 200 targets in Chromium', function () {
  this.slow(20_000);
  const programs = testPrograms();
  let chromium: Chromium | undefined;
  let origin = '';

  before(async function () {
    needs(this, hasChromium, 'chromium is not installed');
    const target = (app: string, key: string) =>
      `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`;
    const shops = Array.from({ length: 20 }, (_, i) => `shop-${i}`);
    for (const server_key of shops) {
      const id = `h.${server_key}.shop`;
      programs.publish({
        server_key,
        objects: [{ id, class: 'Shop', variables: { x: { type: 'u64', value: 1 } } }],
      });
    }
    const targets = [
      ...shops.map((key) => target('shop', key)),
      ...Array.from({ length: 180 }, (_, i) => target(i % 2 === 0 ? 'ads' : 'adh', `missing-${i}`)),
    ];
    const exporter = programs.start('exporter', [
      ...['--config', programs.config({}, targets.join(''))],
    ]);
    origin = new URL(await exporter.url()).origin;
    await readyPage(`${origin}/metrics?server_key=shop-19`);
    chromium = await Chromium.start();
  });
  afterEach(() => chromium?.closePages());
  after(() => chromium?.close());

  const open = async (options: BrowserContextOptions = WIDE): Promise<WatchedPage> => {
    if (chromium === undefined) throw new Error('no browser');
    return chromium.open(`${origin}/`, options);
  };

  for (const [what, options] of [
    ['wide', WIDE],
    ['narrow', NARROW],
  ] as const)
    it(`groups them by application, fits a ${what} screen and is accessible`, async () => {
      const watched = await open(options);
      const groups = watched.page.locator('tr.object');
      const texts = (await groups.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
      expect(texts).to.deep.equal([
        'adh 90 of 90 targets not ready',
        'ads 90 of 90 targets not ready',
        'shop 20 targets',
      ]);
      // A late heartbeat of this busy process gives a ready target a reason, too.
      expect(await watched.page.locator('tr.row-bad.reason').count()).to.equal(180);
      await expectFitting(watched);
    });

  for (const javaScriptEnabled of [true, false])
    it(`has a filter that works ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const watched = await open({ ...WIDE, javaScriptEnabled });
      const { page } = watched;
      await page.locator('#q').fill('shop-1');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/?q=shop-1');
      // shop-1, and shop-10 to shop-19.
      expect(await page.locator('tbody th[scope=row]').count()).to.equal(11);
      expect(await page.locator('#summary').textContent()).to.equal('180 of 200 targets not ready');
      expect(await page.locator('#q').inputValue()).to.equal('shop-1');
      expect(watched.complaints).to.deep.equal([]);
    });
});

/** Expects that a page fits its window, and that axe finds no fault. */
async function expectFitting(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  expect(await watched.overflow(), 'wider than the window').to.equal(0);
  expect(await page.evaluate(BROKEN_WORDS), 'words that are broken').to.deep.equal([]);
  await page.evaluate(axe.source);
  // Without the elements that pass each rule, which would be most of the result.
  const found = await page.evaluate<axe.AxeResults>("axe.run({ resultTypes: ['violations'] })");
  const wrong = found.violations.map(({ id, impact, nodes }) => {
    const where = nodes.map(({ html }) => html).join(' | ');
    return `${impact ?? ''} ${id}: ${where}`;
  });
  expect(wrong).to.deep.equal([]);
  expect(found.passes.length).to.be.above(10);
}

/** Finds words of text that are broken over several lines. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('script, option')) continue;
    for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
})()`;
