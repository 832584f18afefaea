// mergedDocument: one document with the pages of all targets, in which labels identify each target.
import { expect } from 'chai';
import { mergedDocument } from '#app/exposition/page/merged-document.js';
import type { IdentifiedAnswer } from '#app/exposition/page/merged-document.js';
import type { MetricType } from '#app/model.js';
import { FakeTarget } from '../../support/fake-target.js';

/** Returns a target of this application whose only family has these lines. */
const identified = (
  app: string,
  text: string,
  type: MetricType = 'gauge',
  name = 'demo_value',
): IdentifiedAnswer => {
  const target = new FakeTarget(app);
  target.text = text;
  target.metadata = { ...target.metadata, name, type };
  return { identity: { app, server_key: '82' }, answer: target.demandAnswer() };
};
const textOf = (all: readonly IdentifiedAnswer[], own = ''): string =>
  Buffer.concat([...mergedDocument(all).buffers(own)]).toString();

const HEAD = '# HELP demo_value A value.\n# TYPE demo_value gauge\n';

describe('a merged document', () => {
  it('has each family once, and identity labels on the series of each target', () => {
    const all = [
      identified('a', 'demo_value{x="1"} 1\ndemo_value{x="2"} 2\n'),
      identified('b', 'demo_value 3\n'),
    ];
    expect(textOf(all)).to.equal(
      `${HEAD}demo_value{app="a",server_key="82",x="1"} 1\n` +
        'demo_value{app="a",server_key="82",x="2"} 2\ndemo_value{app="b",server_key="82"} 3\n',
    );
  });

  it('keeps the label of a series if a label of the target has the same name', () => {
    expect(textOf([identified('a', 'demo_value{app="mine"} 1\n')])).to.equal(
      `${HEAD}demo_value{app="mine",server_key="82"} 1\n`,
    );
  });

  it('omits and names a metric if a previous target has the metric with a different type', () => {
    const all = [identified('a', 'demo_value 1\n'), identified('b', 'demo_value 2\n', 'counter')];
    expect(textOf(all)).to.equal(
      '# demo_value{app="b",server_key="82"} is left out: the same metric already has the type gauge\n' +
        `${HEAD}demo_value{app="a",server_key="82"} 1\n`,
    );
    const unknown = [
      identified('a', 'demo_value 1\n', 'unknown'),
      identified('b', 'demo_value 2\n'),
    ];
    expect(textOf(unknown)).to.include('left out: the same metric already has the type unknown\n');
  });

  it('omits and names a metric if its name belongs to a series of a previous target', () => {
    const histogram = identified('a', 'demo_value_count 1\n', 'histogram');
    const gauge = identified('b', 'demo_value_count 2\n', 'gauge', 'demo_value_count');
    expect(textOf([histogram, gauge])).to.equal(
      '# demo_value_count{app="b",server_key="82"} is left out: the name demo_value_count belongs to the histogram metric demo_value\n' +
        `${HEAD.replace('gauge', 'histogram')}demo_value_count{app="a",server_key="82"} 1\n`,
    );
    expect(textOf([gauge, histogram]).split('\n')).to.include.members([
      '# demo_value{app="a",server_key="82"} is left out: the name demo_value_count belongs to the gauge metric demo_value_count',
      'demo_value_count{app="b",server_key="82"} 2',
    ]);
  });

  it('omits a target that is not ready', () => {
    const nothing = { synced: 0, total: 1 };
    const target = new FakeTarget('a').wait({
      ...{ objects: nothing, variables: nothing },
      reason: 'object x',
    });
    const all = [
      { identity: { app: 'a' }, answer: target.demandAnswer() },
      identified('b', 'demo_value 3\n'),
    ];
    expect(textOf(all)).to.equal(`${HEAD}demo_value{app="b",server_key="82"} 3\n`);
  });

  it('ends with the metrics of the exporter', () => {
    expect(textOf([identified('a', 'demo_value 1\n')], '# own\n').endsWith('1\n# own\n')).to.equal(
      true,
    );
  });
});
