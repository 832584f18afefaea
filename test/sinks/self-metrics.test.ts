// `/-/metrics` has the internal metrics of all targets, with labels that identify each target.
import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import type { InternalMetric } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { FakeTarget } from '../support/fake-target.js';

describe('SelfMetrics', () => {
  const labelled = (
    value: number | bigint,
    labels: Readonly<Record<string, string>>,
  ): InternalMetric => ({ name: 'shm_labelled', type: 'gauge', help: 'Labelled.', value, labels });

  it('shows the labels of a metric and of its target, and omits empty labels', async () => {
    const ads = new FakeTarget();
    const adh = new FakeTarget('adh', ['80'], 'H.1.adh');
    ads.metrics = [labelled(3n, { path: 'a', value: '' })];
    adh.metrics = [labelled(1, { path: 'b', value: 'x "y"' })];
    const metrics = new SelfMetrics();
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

  it('lets the event loop run while it writes the metrics of many targets', async () => {
    let isWritten = false;
    let visited = 0;
    class Counted extends FakeTarget {
      override internal(): InternalMetric[] {
        visited++;
        return super.internal();
      }
    }
    const targets = Array.from({ length: 100 }, (_, key) => new Counted('ads', [String(key)]));
    const text = new SelfMetrics().text(targets).then(() => (isWritten = true));
    await setImmediate();
    expect([isWritten, visited < targets.length]).to.deep.equal([false, true]);
    await text;
    expect(visited).to.equal(targets.length);
  });

  it('has the utilization and lag of the event loop, but no statistics that need a periodic timer', async () => {
    const text = await new SelfMetrics().text([]);
    const [, share] = /^nodejs_eventloop_utilization ([\d.]+)$/m.exec(text) ?? [];
    expect(Number(share)).to.be.within(0, 1);
    expect(text).to.match(/^nodejs_eventloop_lag_seconds /m);
    expect(text).not.to.match(/nodejs_eventloop_lag_(?!seconds)/);
  });

  it('has separate series for targets that share server key and application', async () => {
    const root = (id: string, instance: string) =>
      Object.assign(new FakeTarget('ads', ['7'], id), { instance });
    const targets = [root('', ''), root('', '1'), root('', 'H.2.ads'), root('', '1')];
    targets.forEach((target, index) => {
      const type = 'counter';
      target.metrics = [{ name: 'shm_counted_total', type, help: 'Counted.', value: index + 1 }];
    });
    const metrics = new SelfMetrics();
    const shown = async (name: string, some = targets) =>
      (await metrics.text(some)).split('\n').filter((line) => line.startsWith(`${name}{`));
    const counted = [
      'shm_counted_total{app="ads",server_key="7"} 1',
      'shm_counted_total{app="ads",server_key="7",hint="1"} 2',
      'shm_counted_total{app="ads",server_key="7",hint="H.2.ads"} 3',
      'shm_counted_total{app="ads",server_key="7",hint="1",twin="2"} 4',
    ];
    expect(await shown('shm_counted_total')).to.deep.equal(counted);
    expect(await shown('shm_counted_total'), 'set, not added to').to.deep.equal(counted);
    for (const target of targets) target.root = `H.${target.instance || '9'}.ads`;
    expect(await shown('shm_counted_total'), 'the same, whatever the root').to.deep.equal(counted);
    const left = targets.slice(0, 2);
    expect(await shown('shm_counted_total', left)).to.deep.equal(counted.slice(0, 2));
    expect(await shown('shm_exporter_target_info', left)).to.deep.equal([
      'shm_exporter_target_info{app="ads",server_key="7",root="H.9.ads",partition="0"} 1',
      'shm_exporter_target_info{app="ads",server_key="7",hint="1",root="H.1.ads",partition="0"} 1',
    ]);
    const states = await shown('shm_exporter_publisher_state', left);
    expect(states.filter((line) => line.endsWith(' 1'))).to.deep.equal([
      'shm_exporter_publisher_state{app="ads",server_key="7",state="live"} 1',
      'shm_exporter_publisher_state{app="ads",server_key="7",hint="1",state="live"} 1',
    ]);
    expect(states.length).to.equal(18);
  });
});
