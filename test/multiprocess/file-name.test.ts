// Tests which names of files belong to the libraries, and what the names state.
import { expect } from 'chai';
import { parseFileName, rubyIdOf } from '#app/multiprocess/file-name.js';

describe('The name of a file in a multiprocess directory', () => {
  const valid: Readonly<Record<string, readonly [string, string]>> = {
    'counter_4711.db': ['counter', '4711'],
    'histogram_4711.db': ['histogram', '4711'],
    'summary_1.db': ['summary', '1'],
    'gauge_all_1.db': ['gauge_all', '1'],
    'gauge_livemostrecent_1.db': ['gauge_livemostrecent', '1'],
    'gauge_all_worker_7.db': ['gauge_all', 'worker_7'],
    'counter_process_id_123-0.db': ['counter', 'process_id_123-0'],
    'gauge_livesum_puma_master-12.db': ['gauge_livesum', 'puma_master-12'],
    'counter_a.db.db': ['counter', 'a.db'],
    'counter_ü .db': ['counter', 'ü '],
  };
  for (const [name, [kind, id]] of Object.entries(valid))
    it(`${name} has the kind ${kind} and the identifier ${id}`, () => {
      expect(parseFileName(name)).to.deep.equal({ kind, id });
    });

  for (const name of ['counter_1', 'metric_a___1.bin', '.db.swp', 'db', ''])
    it(`${name || 'an empty name'} is of no concern`, () => {
      expect(parseFileName(name)).to.equal(undefined);
    });

  for (const name of [
    '.db',
    'index.db',
    'counter_.db',
    'gauge_max.db',
    'gauge__1.db',
    'Counter_1.db',
  ])
    it(`${name} belongs to another program`, () => {
      expect(parseFileName(name)).to.match(/^is no file of a metrics library/);
    });

  it('states an unknown mode of a gauge', () => {
    expect(parseFileName('gauge_mean_1.db')).to.match(
      /^has the gauge mode mean, allowed: all, liveall, /,
    );
  });

  const ids: Readonly<Record<string, string>> = {
    '123-0': '123',
    'puma_0-12': 'puma_0',
    'a-b-3': 'a-b',
    worker: 'worker',
    'a-': 'a-',
  };
  for (const [id, process] of Object.entries(ids))
    it(`the process of ${id} in the Ruby dialect is ${process}`, () => {
      expect(rubyIdOf(id)).to.equal(process);
    });
});
