// The start times that protobuf pages state, while objects come and go.
import { expect } from 'chai';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject, ObjectOptions } from '../../support/fake-source.js';
import { observing } from '../../support/observing-catalogue.js';
import { decodedFamilies, decodedStarts } from '../../support/protobuf-page.js';
import { testView } from '../test-view.js';
import type { TestViewOptions } from '../test-view.js';

const [STARTED, FIRST_RENDER, LATER] = [1_700_000_000_123, 1_800_000_000_000, 1_800_000_060_000];
const REFRESH = { kind: 'refresh', mayRender: true, forms: ['protobuf'] } as const;

/** A source with a root of `demo`, and the start times of its page. */
function startedTree(options: TestViewOptions = {}) {
  const source = new FakeSource();
  source.startedUnixMs = STARTED;
  const root = source.addObject('h.1.demo', 'Root');
  let nowMs = FIRST_RENDER;
  const { view, render } = testView(source, root, { app: 'demo', unixMs: () => nowMs, ...options });
  view.demand(REFRESH);
  return {
    source,
    root,
    setTime: (unixMs: number): void => {
      nowMs = unixMs;
    },
    /** Adds an object with a counter. */
    add: (name: string, more: ObjectOptions = {}): FakeObject => {
      const object = source.addObject(`h.1.demo.${name}`, 'Till', { parent: root, ...more });
      source.addVariable(object, 'sales', { type: 'u64', kind: 'counter', value: 7n });
      return object;
    },
    starts: async () => {
      const page = await PROTOBUF.page({ snapshot: render(), internal: [] });
      const bytes = Buffer.concat(page.buffers);
      page.release();
      return decodedStarts(decodedFamilies(bytes));
    },
  };
}

const sales = (object: string): string => `demo_till_sales_total[["object","${object}"]]`;

describe('the start time of a series', () => {
  it('is the start of the source for counters, histograms and summaries of the first tree', async () => {
    const { source, root, starts } = startedTree();
    const histogram = { type: 'histogram', counts: BigUint64Array.of(1n, 2n), sum: 3 } as const;
    const summary = { type: 'summary', count: 1n, sum: 2, values: Float64Array.of(3) } as const;
    source.addVariable(root, 'c', { type: 'u64', kind: 'counter', value: 1n });
    source.addVariable(root, 'h', { type: 'histogram', schema: [1], value: histogram });
    source.addVariable(root, 's', { type: 'summary', schema: [0.5], value: summary });
    source.addVariable(root, 'g', { type: 'u64', kind: 'gauge', value: 1n });
    source.addVariable(root, 'u', { type: 'u64', kind: 'unknown', value: 1n });
    expect(await starts()).to.deep.include({
      'demo_root_c_total[["object","@root"]]': STARTED,
      'demo_root_h[["object","@root"]]': STARTED,
      'demo_root_s[["object","@root"]]': STARTED,
      'demo_root_g[["object","@root"]]': undefined,
      'demo_root_u[["object","@root"]]': undefined,
    });
  });

  it('is missing if the format does not state it', async () => {
    const { source, add, starts } = startedTree();
    source.startedUnixMs = undefined;
    add('a');
    expect(await starts()).to.have.property(sales('a'), undefined);
  });

  it('is the time when an object was added later, and stays so', async () => {
    const { add, setTime, starts } = startedTree();
    add('a');
    await starts();
    setTime(LATER);
    add('b');
    expect(await starts()).to.deep.include({ [sales('a')]: STARTED, [sales('b')]: LATER });
    setTime(LATER + 1000);
    expect(await starts()).to.deep.include({ [sales('a')]: STARTED, [sales('b')]: LATER });
  });

  it('is new for an object that takes the name of a removed one', async () => {
    const { source, add, setTime, starts } = startedTree();
    const former = add('a');
    await starts();
    source.remove(former);
    await starts();
    setTime(LATER);
    add('a');
    expect(await starts()).to.have.property(sales('a'), LATER);
  });

  it('is the time that an object or its parent states, even if the object was added later', async () => {
    const { add, setTime, starts } = startedTree();
    const a = add('a', { startedUnixMs: 5000 });
    add('a.x', { parent: a });
    await starts();
    setTime(LATER);
    add('a.y', { parent: a });
    add('b', { startedUnixMs: 0 });
    expect(await starts()).to.deep.include({
      [sales('a')]: 5000,
      [sales('a.x')]: 5000,
      [sales('a.y')]: 5000,
      [sales('b')]: 0,
    });
  });

  it('differs within a family of several pieces of text', async () => {
    const { add, setTime, starts } = startedTree();
    for (let i = 0; i < 5000; i++) add(`first${i}`);
    await starts();
    setTime(LATER);
    for (let i = 0; i < 5000; i++) add(`later${i}`);
    const entries = Object.entries(await starts());
    const wrong = entries.filter(
      ([series, start]) =>
        series.startsWith('demo_till_sales') &&
        start !== (series.includes('first') ? STARTED : LATER),
    );
    expect(entries).to.have.lengthOf(10_000);
    expect(wrong).to.deep.equal([]);
  });

  it('is missing for values that the exporter observes: it began later than the publisher', async () => {
    const { file, text } = observing();
    const { source, root, starts } = startedTree({ catalogue: parseCatalogue({ text, file }) });
    source.addVariable(root, 'lag', { type: 'u64', value: 5n });
    expect(await starts()).to.deep.include({
      'demo_lag_seconds[]': undefined,
      'demo_lag[]': undefined,
    });
  });
});
