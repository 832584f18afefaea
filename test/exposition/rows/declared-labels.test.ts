// Tests labels that a format sets on its objects, and self-described classes in a catalogue.
import { expect } from 'chai';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { FakeSource } from '../../support/fake-source.js';
import { testView } from '../test-view.js';

const CATALOGUE = parseCatalogue({
  text: `app = "shop"
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["{till}"]
metrics = [
  { name = "shop_till_sales_total", type = "counter", help = "Sales.", var = "sales" },
  { name = "shop_till_clerk_info", type = "info", help = "Clerk.", labels_from = { clerk = "name" } },
]
[[classes]]
alias = "own"
class_ids = ["Own"]
paths = ["{till}.own"]
described = true
metrics = []
`,
  file: 'shop.toml',
});

/** A till on which the format sets the label of its floor. A self-described object is below the till. */
function shop() {
  const source = new FakeSource();
  const root = source.addObject('h.1.shop', 'Shop');
  const labels = { floor: '2 "b"', till: 'other', clerk: 'none' };
  const till = source.addObject('h.1.shop.t1', 'Till', { parent: root, labels });
  source.addVariable(till, 'sales', { type: 'u64', value: 7n });
  source.addVariable(till, 'name', { type: 'string', value: 'Ann' });
  source.addVariable(till, 'unread', { type: 'u64', value: 8n });
  const own = source.addObject('h.1.shop.t1.own', 'Own', { parent: till, labels });
  const queue = source.addVariable(own, 'queue', { type: 'i64', kind: 'gauge', value: -3 });
  return { source, root, own, queue };
}

const linesOf = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('the labels of a format', () => {
  it('follow the labels of the path, unless the path or a row has a label with the same name', () => {
    const { source, root } = shop();
    const { text } = testView(source, root, { app: 'shop', catalogue: CATALOGUE });
    expect(linesOf(text())).to.include.members([
      'shop_till_sales_total{till="t1",floor="2 \\"b\\""} 7',
      'shop_till_clerk_info{till="t1",floor="2 \\"b\\"",clerk="Ann"} 1',
    ]);
  });

  it('are shown even without a catalogue', () => {
    const { source, root } = shop();
    const { text } = testView(source, root, { app: 'shop' });
    expect(text()).to.contain('{object="t1",floor="2 \\"b\\"",till="other",clerk="none"} 7');
  });
});

describe('a class with described = true', () => {
  it('can share a metric name with a catalogue row', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const till = source.addObject('h.1.shop.t1', 'Till', { parent: root });
    source.addVariable(till, 'coins', { type: 'i64', kind: 'gauge', value: 7n });
    const own = source.addObject('h.1.shop.t1.own', 'Own', { parent: till });
    source.addVariable(own, 'queue', { type: 'i64', kind: 'gauge', value: 3n });
    const catalogue = parseCatalogue({
      text: `app = "shop"
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["{till}"]
described = true
metrics = []
[[classes]]
alias = "own"
class_ids = ["Own"]
paths = ["{till}.own"]
metrics = [
  { name = "shop_till_coins", type = "gauge", help = "H.", var = "queue", static = { of = "own" } },
  { name = "shop_queue", type = "gauge", help = "H.", var = "queue" },
]
`,
      file: 'shop.toml',
    });
    const { text } = testView(source, root, { app: 'shop', catalogue });
    expect(linesOf(text())).to.deep.equal([
      'shop_till_coins{till="t1"} 7',
      'shop_till_coins{till="t1",of="own"} 3',
      'shop_queue{till="t1"} 3',
    ]);
  });

  it('has series with the labels of its objects, even without rows', () => {
    const { source, root } = shop();
    const { text } = testView(source, root, { app: 'shop', catalogue: CATALOGUE });
    const line = linesOf(text()).find((each) => each.startsWith('shop_own_queue'));
    expect(line).to.equal('shop_own_queue{till="t1",floor="2 \\"b\\"",clerk="none"} -3');
  });

  it('loses a series once its variable is removed', () => {
    const { source, root, queue } = shop();
    const { view, text } = testView(source, root, { app: 'shop', catalogue: CATALOGUE });
    text();
    source.remove(queue);
    view.applyChanges(source.readChanges().changes);
    expect(text()).not.to.contain('shop_own_queue');
  });

  it('adds nothing to the count of variables without a row', () => {
    const { source, root } = shop();
    const { view, text } = testView(source, root, { app: 'shop', catalogue: CATALOGUE });
    text();
    expect(view.coverage.variablesWithoutRow).to.equal(1);
  });
});
