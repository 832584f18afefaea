// Tests which processes of a directory are known, and what happens when they end.
import { appendFileSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { rubyKey } from './metric-bytes.js';
import { count, level, metricFolder } from './metric-folder.js';
import { pollAll } from '../support/polled-values.js';

const [ONE, TWO] = [4711, 4712];

describe('The processes of a directory of metric files', () => {
  const { folder, poller, write, lines, pass, process, lock } = metricFolder();
  const end = (pid: number): void => {
    rmSync(folder.path(`proc/${pid}`), { recursive: true });
    pass(1000);
  };
  const dead = (files: number): string => `multiprocess_dead_files ${files}`;

  it('lose their live gauges when they end; their counts, other gauges and last values stay', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    write(`gauge_max_${ONE}.db`, [level(9)]);
    write(`gauge_livesum_${ONE}.db`, [{ key: level(0).key, value: 5 }].map(renamed));
    const other = write(`counter_${TWO}.db`, [count(4)]);
    process(ONE, [counter]);
    process(TWO, [other]);
    const shown = poller();
    expect(lines(shown, 'open')).to.deep.equal(['open 5']);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(0)]);
    // Written after the last read.
    write(`counter_${ONE}.db`, [count(5)]);
    end(ONE);
    expect(lines(shown, 'req_total')).to.deep.equal(['req_total 9']);
    expect(lines(shown, 'level')).to.deep.equal(['level 9']);
    expect(lines(shown, 'open')).to.deep.equal([]);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(3)]);
  });

  it('are found again when another process has the identifier and the files', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    write(`gauge_livesum_${ONE}.db`, [level(5)]);
    process(ONE, [counter]);
    const shown = poller();
    expect(lines(shown, 'level')).to.deep.equal(['level 5']);
    end(ONE);
    expect(lines(shown, 'level')).to.deep.equal([]);
    process(ONE, [counter], 2000);
    pass(1000);
    expect(lines(shown, 'level')).to.deep.equal(['level 5']);
    write(`counter_${ONE}.db`, [count(4)]);
    expect(lines(shown, 'req_total')).to.deep.equal(['req_total 4']);
  });

  it('have ended if other processes have their PIDs', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    write(`counter_${TWO}.db`, [count(3)]);
    process(ONE, [counter]);
    process(TWO, []);
    const shown = poller();
    pageTwice(shown);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(1)]);
    process(ONE, [], 2000);
    pass(1000);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(2)]);
  });

  it('are unknown, and have not ended, if the identifiers are no PIDs of processes that can be seen', () => {
    for (const id of ['worker_1', '1', '99']) write(`gauge_liveall_${id}.db`, [level(1)]);
    process(1, []);
    const shown = poller();
    pageTwice(shown);
    expect(lines(shown, 'level')).to.have.length(3);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(0)]);
    expect(lines(shown, 'process_')).to.deep.equal([]);
  });

  it('are in a PID namespace that cannot be seen if the files of an ended one change', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    write(`counter_${TWO}.db`, [count(3)]);
    process(ONE, [counter]);
    const shown = poller();
    pageTwice(shown);
    expect(lines(shown, 'multiprocess_dead')).to.deep.equal([dead(1)]);
    write(`counter_${TWO}.db`, [count(10)]);
    for (let round = 0; round < 64; round++) pollAll(shown);
    expect(lines(shown, 'req_total')).to.deep.equal(['req_total 13']);
    write(`counter_${TWO}.db`, [count(20)]);
    pass(1000);
    expect(lines(shown, 'req_total')).to.deep.equal(['req_total 23']);
  });

  it('hold the locks of their files in the Ruby dialect', () => {
    const entries = [{ key: rubyKey('level'), value: 5 }];
    const file = write('gauge_liveall_puma_0-0.db', entries, 8);
    process(ONE, []);
    lock(ONE, file);
    const shown = poller();
    expect(lines(shown, 'level')).to.deep.equal(['level{pid="puma_0"} 5']);
    expect(lines(shown, 'process_threads')).to.deep.equal(['process_threads{pid="puma_0"} 4']);
    rmSync(folder.path('proc/locks'));
    end(ONE);
    expect(lines(shown, 'level')).to.deep.equal([]);
    expect(lines(shown, 'process_threads')).to.deep.equal([]);
  });

  it('show what they use', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    process(ONE, [counter]);
    const shown = poller();
    expect(lines(shown, 'process_')).to.have.members([
      `process_virtual_memory_bytes{pid="${ONE}"} 8192`,
      `process_resident_memory_bytes{pid="${ONE}"} 12288`,
      `process_start_time_seconds{pid="${ONE}"} 1700001000`,
      `process_cpu_seconds_total{pid="${ONE}"} 2`,
      `process_threads{pid="${ONE}"} 4`,
      `process_max_fds{pid="${ONE}"} 1024`,
      `process_open_fds{pid="${ONE}"} 3`,
    ]);
    appendFileSync(folder.path(`proc/${ONE}/fd/3`), '');
    expect(lines(shown, 'process_open_fds')).to.deep.equal([`process_open_fds{pid="${ONE}"} 4`]);
    end(ONE);
    expect(lines(shown, 'process_')).to.deep.equal([]);
  });

  it('do not show what they use with process_metrics = false', () => {
    process(ONE, [write(`counter_${ONE}.db`, [count(3)])]);
    expect(lines(poller({ processMetrics: false }), 'process_')).to.deep.equal([]);
  });

  it('leave files that the exporter warns of if there are very many', () => {
    const counter = write(`counter_${ONE}.db`, [count(3)]);
    process(ONE, [counter]);
    for (let number = 0; number < 1001; number++)
      write(`counter_${10_000 + number}.db`, [count(1)]);
    const shown = poller();
    pageTwice(shown);
    expect(pollAll(shown).warnings?.map(folder.bare)).to.deep.equal([
      'shop has more than 1000 files of processes that have ended: remove them, their counts stay in the sums',
    ]);
    expect(lines(shown, 'req_total')).to.deep.equal(['req_total 1004']);
  });

  function pageTwice(shown: ReturnType<typeof poller>): void {
    lines(shown, '');
    pass(6000);
    lines(shown, '');
  }
});

const renamed = ({ value }: { readonly value: number }) => ({ key: openKey, value });
const openKey = '["open", "open", {}, "Open."]';
