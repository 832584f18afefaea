// show_uncatalogued: metrics from variables that no row of the catalogue reads.
import { expect } from 'chai';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject, VariableOptions } from '../../support/fake-source.js';
import { readOpenMetrics } from '../../support/open-metrics-checker.js';
import { shopCatalogue, testView } from '../test-view.js';
import type { TestViewOptions } from '../test-view.js';

const row = (name: string, type: string, rest: string): string =>
  `{ name = "shop_${name}", type = "${type}", help = "Of a row.", ${rest} },`;
const counter = (value: number, more: Partial<VariableOptions> = {}): VariableOptions => ({
  ...{ type: 'u64', kind: 'counter', value, help: 'Of the publisher.' },
  ...more,
});
const gauge = (value: number): VariableOptions => ({ ...counter(value), kind: 'gauge' });

/** A shop with a till. The catalogue reads the shop's `open` and the till's `sales`. */
function shop(options: TestViewOptions = {}, rootRows = row('open', 'gauge', 'var = "open"')) {
  const source = new FakeSource();
  const root = source.addObject('h.1.shop', 'Shop');
  const till = source.addObject('h.1.shop.floor.2.7', 'Till', { parent: root });
  source.addVariable(root, 'open', gauge(1));
  source.addVariable(till, 'sales', counter(5));
  const catalogue = shopCatalogue(rootRows, row('till_sales_total', 'counter', 'var = "sales"'));
  const view = testView(source, root, { catalogue, showUncatalogued: true, ...options });
  return { source, root, till, ...view };
}

const OPEN = 'shop_open 1';
const SALES = 'shop_till_sales_total{floor="2",till="7"} 5';

describe('show_uncatalogued', () => {
  it('adds variables of objects with rows, and of objects without rows, after the metrics of rows', () => {
    const { source, root, till, lines } = shop();
    source.addVariable(till, 'received', counter(1500, { unit: 'bytes' }));
    const lamp = source.addObject('h.1.shop.lamp', 'Lamp', { parent: root });
    source.addVariable(lamp, 'isOn', { type: 'bool', value: true });
    source.addVariable(lamp, 'colour', { type: 'string', value: 'red' });
    expect(lines()).to.deep.equal([
      OPEN,
      SALES,
      'shop_lamp_colour_info{object="lamp",value="red"} 1',
      'shop_lamp_is_on{object="lamp"} 1',
      'shop_till_received_bytes_total{object="floor.2.7"} 1500',
    ]);
  });

  it('changes nothing if it is not set', () => {
    const { source, till, lines } = shop({ showUncatalogued: false });
    source.addVariable(till, 'received', counter(1500));
    expect(lines()).to.deep.equal([OPEN, SALES]);
  });

  it('does not change the metrics of a class with described = true', () => {
    const till = `alias = "till"
class_ids = ["Till"]
paths = ["floor.{floor}.{till}"]
described = true
metrics = []`;
    const catalogue = parseCatalogue({
      text: `app = "shop"\n[[classes]]\n${till}`,
      file: 'shop.toml',
    });
    const { lines } = shop({ catalogue, pathLabels: ['floor.{level}'] });
    expect(lines()).to.deep.equal(['shop_open{object="@root"} 1', SALES]);
  });

  it('adds the labels of path_labels to its series', () => {
    const { source, till, lines } = shop({ pathLabels: ['floor.{level}'] });
    source.addVariable(till, 'coins', gauge(3));
    expect(lines()).to.deep.equal([OPEN, SALES, 'shop_till_coins{object="floor.2.7",level="2"} 3']);
  });

  it('follows variables as they are added and removed', () => {
    const { source, till, lines } = shop();
    lines();
    const coins = source.addVariable(till, 'coins', gauge(3));
    expect(lines()).to.include('shop_till_coins{object="floor.2.7"} 3');
    source.remove(coins);
    expect(lines()).to.deep.equal([OPEN, SALES]);
    source.remove(till);
    expect(lines()).to.deep.equal([OPEN]);
  });

  it('does not lower the count of variables without a row', () => {
    const { source, till, lines, view } = shop();
    source.addVariable(till, 'coins', gauge(3));
    lines();
    expect(view.coverage.variablesWithoutRow).to.equal(1);
  });

  describe('(name clash with a row)', () => {
    const owned: readonly (readonly [string, string, string, VariableOptions, string])[] = [
      [
        'if both are gauges',
        row('coins', 'gauge', 'var = "open"'),
        'coins',
        gauge(3),
        'shop_coins_uncatalogued',
      ],
      [
        'if both are counters',
        row('coins_total', 'counter', 'var = "open"'),
        'coins',
        counter(3),
        'shop_coins_uncatalogued_total',
      ],
      [
        'if the names are equal only in OpenMetrics',
        row('coins_total', 'counter', 'var = "open"'),
        'coins',
        gauge(3),
        'shop_coins_uncatalogued',
      ],
      [
        'if the row has a series of this name',
        row('wait', 'histogram', 'var = "open", observe = true, buckets = [1]'),
        'wait sum',
        gauge(3),
        'shop_wait_sum_uncatalogued',
      ],
      [
        'if a second row already has the name with _uncatalogued',
        row('coins', 'gauge', 'var = "open"') +
          row('coins_uncatalogued', 'gauge', 'var = "nothing"'),
        'coins',
        gauge(3),
        'shop_coins_uncatalogued_uncatalogued',
      ],
    ];
    for (const [what, rows, name, options, metric] of owned)
      it(`uses the name ${metric} ${what}`, () => {
        const { source, root, lines, page, clashes } = shop({}, rows);
        source.addVariable(root, name, options);
        expect(lines()).to.include(`${metric}{object="@root"} 3`);
        expect(clashes).to.deep.equal([]);
        expect(() => readOpenMetrics(page(OPEN_METRICS))).not.to.throw();
      });

    it('keeps the type and help of the row, even if the uncatalogued value comes first', () => {
      const source = new FakeSource();
      const root = source.addObject('h.1.shop', 'Shop');
      source.addVariable(root, 'coins', gauge(3));
      const catalogue = shopCatalogue(row('coins', 'unknown', 'var = "open"'));
      const { text } = testView(source, root, { catalogue, showUncatalogued: true });
      expect(text()).to.contain('# TYPE shop_coins_uncatalogued gauge\n');
      source.addVariable(root, 'open', { type: 'u64', value: 1 });
      expect(text()).to.contain('# HELP shop_coins Of a row.\n# TYPE shop_coins untyped\n');
    });

    it('adds _uncatalogued to the name, even if the target filters out the class of the row', () => {
      const filters = { classes: ['till'] };
      const { source, till, lines } = shop({ filters }, row('till_coins', 'gauge', 'var = "x"'));
      source.addVariable(till, 'coins', gauge(3));
      expect(lines()).to.include('shop_till_coins_uncatalogued{object="floor.2.7"} 3');
    });
  });

  it('shows the first of two variables with the same name and different types, and the second once the first is removed', () => {
    const { source, root, till, lines, clashes, text } = shop();
    const coins = source.addVariable(till, 'coins', gauge(3));
    lines();
    const other = source.addObject('h.1.shop.floor.2.8', 'Till', { parent: root });
    source.addVariable(other, 'coins', { ...gauge(4), kind: 'unknown', help: 'Of another.' });
    expect(lines()).not.to.include('shop_till_coins{object="floor.2.8"} 4');
    expect(clashes).to.deep.equal(['shop_till_coins{object="floor.2.8"}']);
    expect(text()).to.contain(
      '# HELP shop_till_coins Of the publisher.\n# TYPE shop_till_coins gauge\n',
    );
    source.remove(coins);
    expect(lines()).to.include('shop_till_coins{object="floor.2.8"} 4');
  });

  describe('with', () => {
    const REGISTER = `{ name = "shop_register_open", type = "gauge", help = "Of a row.", var = "open" }`;
    /** Returns the lines of a tree with tills to which two classes apply. */
    function tills(filters: TestViewOptions['filters']) {
      const source = new FakeSource();
      const root: FakeObject = source.addObject('h.1.shop', 'Shop');
      source.addVariable(root, 'time', gauge(8));
      const till = source.addObject('h.1.shop.floor.2.7', 'Till', { parent: root });
      for (const name of ['sales', 'open', 'coins']) source.addVariable(till, name, gauge(1));
      const base = shopCatalogue('', row('till_sales', 'gauge', 'var = "sales"'));
      const more = shopCatalogue('', REGISTER);
      const classes = [
        ...base.classes,
        ...more.classes
          .filter(({ alias }) => alias === 'till')
          .map((each) => ({ ...each, alias: 'register' })),
      ];
      const families = new Map([...base.families, ...more.families]);
      const catalogue = { ...base, classes, families };
      const options = { catalogue, showUncatalogued: true, ...(filters && { filters }) };
      return testView(source, root, options).lines();
    }
    const AT = 'floor="2",till="7"';
    const coins = 'shop_till_coins{object="floor.2.7"} 1';

    it('empty filters shows every variable', () =>
      expect(tills(undefined)).to.have.members([
        `shop_till_sales{${AT}} 1`,
        `shop_register_open{${AT}} 1`,
        coins,
        'shop_time{object="@root"} 8',
      ]));

    it('a filter on classes shows variables of these classes, unless a row for an excluded class reads them', () =>
      expect(tills({ classes: ['till'] })).to.have.members([`shop_till_sales{${AT}} 1`, coins]));

    it('a filter on seed_paths shows only variables below these paths', () =>
      expect(tills({ seedPaths: ['@root'] })).to.deep.equal(['shop_time{object="@root"} 8']));
  });

  it('obeys the limits of the target, and names the omitted series', () => {
    const { source, till, lines, omitted } = shop({ limits: { series: 3 } });
    lines();
    source.addVariable(till, 'coins', gauge(3));
    source.addVariable(till, 'notes', gauge(4));
    expect(lines()).to.deep.equal([OPEN, SALES, 'shop_till_coins{object="floor.2.7"} 3']);
    expect(omitted).to.deep.equal(['series: series shop_till_notes{object="floor.2.7"}']);
  });
});
