// Tests that a target shows which of its worker processes hang, and is not ready if all of them do.
import { expect } from 'chai';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { testPrograms } from '../support/processes.js';
import { pageWith, seriesKey, unready } from './page.js';

const worker = (number: number) => ({
  server_key: `shop-${number}`,
  objects: [
    {
      ...{ id: `h.${number}.shop`, class: 'Shop' },
      variables: {
        sales: { type: 'u64', kind: 'counter', value: number },
        open: { type: 'i64', kind: 'gauge', value: 10 * number },
      },
    },
  ],
});

describe('a target of two workers that are stopped and continued', function () {
  this.slow(30_000);
  const programs = testPrograms();

  it('shows how many are stalled, keeps their counters in the sums, and is not ready while both are stopped', async () => {
    const target =
      '[[targets]]\napp = "shop"\nserver_key = "all"\nformat = "workers"\n' +
      'format_settings = { segments = ["shop-*"] }\n';
    const config = programs.config({ worker_execution_mode, stalled_after_seconds: 1 }, target);
    const [one, two] = [
      await programs.simulatorOf(worker(1)),
      await programs.simulatorOf(worker(2)),
    ];
    const exporter = programs.start('exporter', ['--config', config]);
    const url = `${await exporter.url()}?server_key=all`;
    const sales = seriesKey('shop_sales_total', { object: '@root' });
    const open = seriesKey('shop_open', { object: '@root' });
    const shows = (stalled: number, sum: number) =>
      pageWith(
        url,
        (page) =>
          page.get('shm_workers_stalled{}') === String(stalled) && page.get(open) === String(sum),
        `${stalled} stalled workers, and a sum of gauges of ${sum}`,
      );
    try {
      expect((await shows(0, 30)).get(sales)).to.equal('3');
      two.signal('SIGSTOP');
      const page = await shows(1, 10);
      expect(page.get(sales)).to.equal('3');
      expect(page.get('shm_workers{}')).to.equal('2');
      await exporter.line(/worker shop-2 is stalled: it sends no heartbeat/);
      one.signal('SIGSTOP');
      await unready(
        url,
        /server key all: 2 workers are stalled: no heartbeat from the publisher for more than 6 s\n$/,
      );
      two.signal('SIGCONT');
      expect((await shows(1, 20)).get(sales)).to.equal('3');
      await exporter.line(/worker shop-2 sends heartbeats again/);
    } finally {
      one.signal('SIGCONT');
      two.signal('SIGCONT');
    }
    expect((await shows(0, 30)).get(sales)).to.equal('3');
  });
});
