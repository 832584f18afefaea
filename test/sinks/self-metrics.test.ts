// What `/-/metrics` shows of targets: their internal metrics under the labels that name them.
import { expect } from 'chai';
import type { InternalMetric } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { FakeTarget } from '../support/fake-target.js';

describe('SelfMetrics', () => {
  const labelled = (
    value: number | bigint,
    labels: Readonly<Record<string, string>>,
  ): InternalMetric => ({ name: 'shm_labelled', type: 'gauge', help: 'Labelled.', value, labels });

  it('shows labels of a metric beside those of its target, and leaves out empty ones', async () => {
    const ads = new FakeTarget();
    const adh = new FakeTarget('adh', ['80'], 'H.1.adh');
    ads.metrics = [labelled(3n, { path: 'a', value: '' })];
    adh.metrics = [labelled(1, { path: 'b', value: 'x "y"' })];
    const metrics = new SelfMetrics('1.2.3');
    const shown = async () =>
      (await metrics.text([ads, adh]))
        .split('\n')
        .filter((line) => line.startsWith('shm_labelled'));
    expect(await shown()).to.deep.equal([
      'shm_labelled{app="ads",server_key="82",path="a"} 3',
      'shm_labelled{app="adh",server_key="80",path="b",value="x \\"y\\""} 1',
    ]);
    ads.metrics = [labelled(-Infinity, { path: 'a', value: '' })];
    adh.metrics = [];
    expect(await shown(), 'what is gone is gone').to.deep.equal([
      'shm_labelled{app="ads",server_key="82",path="a"} -Inf',
    ]);
  });
});
