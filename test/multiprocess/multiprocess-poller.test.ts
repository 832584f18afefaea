// Tests the page of directories of metric files while files come, change and go.
import {
  chmodSync,
  chownSync,
  lutimesSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PollResult, Poller } from '#app/streams/poller.js';
import { withFastClock } from '../support/fast-clock.js';
import { needsRoot } from '../support/needs.js';
import { descriptorsOf } from '../support/open-files.js';
import { pollAll, valuesOf } from '../support/polled-values.js';
import { fileBytes, pythonKey, rubyKey } from './metric-bytes.js';
import type { Entry } from './metric-bytes.js';
import { makeMemoryFolder } from './memory-folder.js';
import { count, level, metricFolder } from './metric-folder.js';
import { pageOf } from './shown-page.js';

const OTHER_USER = 1234;

/** The entries of a histogram with the counts of its buckets. */
const histogram = (sum: number, buckets: Readonly<Record<string, number>>): readonly Entry[] => [
  { key: pythonKey('lat', 'lat_sum'), value: sum },
  ...Object.entries(buckets).map(([le, value]) => ({
    key: pythonKey('lat', 'lat_bucket', { le }),
    value,
  })),
];

describe('A poller of directories of metric files', () => {
  const { folder, poller: polling, write, lines, reasonOf, pass } = metricFolder();

  describe('of one application', () => {
    it('sums counters over all files, and shows their names, help and labels', () => {
      write('counter_1.db', [count(3, { path: '/' }), count(1, { path: '/a' })]);
      write('counter_2.db', [count(4, { path: '/' })]);
      expect(pageOf(polling()).page.split('\n').slice(-5)).to.deep.equal([
        '# HELP req_total Help of req',
        '# TYPE req_total counter',
        'req_total{path="/"} 7',
        'req_total{path="/a"} 1',
        '',
      ]);
    });

    it('has a root named after the host, the server key and the application', () => {
      const [root] = pollAll(polling()).source?.roots ?? [];
      expect(root?.name).to.match(/\.web_1\.shop$/);
    });

    it('reads changed values, new series and new files', () => {
      write('counter_1.db', [count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      write('counter_1.db', [count(4), count(1, { path: '/' })]);
      expect(lines(poller, 'req_total')).to.have.members(['req_total 4', 'req_total{path="/"} 1']);
      write('counter_2.db', [count(10)]);
      expect(lines(poller, 'req_total')).to.include('req_total 14');
    });

    it('adds up the buckets of the Python dialect, also if the bounds of two processes differ', () => {
      write('histogram_1.db', histogram(2, { '1.0': 1, '+Inf': 1 }));
      write('histogram_2.db', histogram(3.5, { '2.0': 1, '+Inf': 1 }));
      expect(lines(polling(), 'lat')).to.have.members([
        'lat_bucket{le="1.0"} 1',
        'lat_bucket{le="2.0"} 2',
        'lat_bucket{le="+Inf"} 4',
        'lat_sum 5.5',
        'lat_count 4',
      ]);
    });

    it('shows the new buckets if the bounds change', () => {
      write('histogram_1.db', histogram(2, { '1.0': 1, '+Inf': 1 }));
      const poller = polling();
      expect(lines(poller, 'lat_bucket')).to.have.length(2);
      write('histogram_2.db', histogram(3, { '5.0': 1, '+Inf': 0 }));
      expect(lines(poller, 'lat_bucket')).to.deep.equal([
        'lat_bucket{le="1.0"} 1',
        'lat_bucket{le="5.0"} 2',
        'lat_bucket{le="+Inf"} 3',
      ]);
    });

    it('takes the buckets of the Ruby dialect as they are', () => {
      const entry = (sample: string, value: number, labels = {}): Entry => ({
        key: rubyKey('lat', sample, labels),
        value,
      });
      const entries = [
        entry('lat_sum', 9),
        entry('lat_count', 3),
        ...[entry('lat_bucket', 1, { le: '1' }), entry('lat_bucket', 2, { le: '10' })],
        entry('lat_bucket', 3, { le: '+Inf' }),
      ];
      write('histogram_puma_0-0.db', entries, 8);
      expect(lines(polling(), 'lat')).to.have.members([
        'lat_bucket{le="1"} 1',
        'lat_bucket{le="10"} 2',
        'lat_bucket{le="+Inf"} 3',
        'lat_sum 9',
        'lat_count 3',
      ]);
    });

    it('does not show a histogram that its process is adding', () => {
      write('histogram_1.db', histogram(2, { '1.0': 1 }));
      expect(lines(polling(), 'lat')).to.deep.equal([]);
    });

    it('leaves out a histogram with fractions of observations, and says so', () => {
      write('histogram_1.db', histogram(2, { '1.0': 1.5, '+Inf': 1 }));
      const poller = polling();
      expect(lines(poller, 'lat')).to.deep.equal([]);
      expect(reasonOf(poller)).to.match(
        /^1 metric file is shown: shop: lat has the count 1\.5 in the bucket of 1, allowed: integers/,
      );
    });

    const gauges: Readonly<Record<string, readonly string[]>> = {
      gauge_all: ['level{pid="1"} 3', 'level{pid="w_2"} 5'],
      gauge_liveall: ['level{pid="1"} 3', 'level{pid="w_2"} 5'],
      gauge_min: ['level 3'],
      gauge_livemin: ['level 3'],
      gauge_max: ['level 5'],
      gauge_livemax: ['level 5'],
      gauge_sum: ['level 8'],
      gauge_livesum: ['level 8'],
      gauge_mostrecent: ['level 3'],
      gauge_livemostrecent: ['level 3'],
    };
    for (const [kind, expected] of Object.entries(gauges))
      it(`merges files of the kind ${kind}`, () => {
        write(`${kind}_1.db`, [level(3, 20)]);
        write(`${kind}_w_2.db`, [level(5, 10)]);
        expect(lines(polling(), 'level')).to.have.members(expected);
      });

    it('does not show a value that was never set as the most recent one', () => {
      const path = write('gauge_mostrecent_1.db', [level(3)]);
      const poller = polling();
      expect(lines(poller, 'level')).to.deep.equal([]);
      writeFileSync(path, fileBytes([level(4, 1)], 16, 4096));
      expect(lines(poller, 'level')).to.deep.equal(['level 4']);
    });

    it('shows the greater of two values of the same time', () => {
      write('gauge_mostrecent_1.db', [level(3, 7)]);
      write('gauge_mostrecent_2.db', [level(2, 7)]);
      expect(lines(polling(), 'level')).to.deep.equal(['level 3']);
    });

    it('shows the first of two metrics with one name and different types, until its files are gone', () => {
      const path = write('counter_1.db', [{ key: pythonKey('level', 'level'), value: 1 }]);
      write('gauge_max_1.db', [level(5)]);
      const poller = polling({ keepRemoved: false });
      expect(lines(poller, 'level')).to.deep.equal(['level 1']);
      expect(reasonOf(poller)).to.contain(
        'metric level of gauge max files of python clashes with that of counter files of python',
      );
      rmSync(path);
      expect(lines(poller, 'level')).to.deep.equal(['level 5']);
      expect(reasonOf(poller)).to.equal('1 metric file is shown');
    });

    it('shows the new type of a metric whose files of the old type were removed', () => {
      const path = write('counter_1.db', [{ key: pythonKey('level', 'level'), value: 1 }]);
      const poller = polling();
      expect(lines(poller, 'level')).to.deep.equal(['level 1']);
      rmSync(path);
      expect(lines(poller, 'level')).to.deep.equal(['level 1']);
      write('gauge_max_2.db', [level(5)]);
      expect(lines(poller, '').filter((line) => line.includes('level'))).to.deep.equal([
        '# HELP level Help of level',
        '# TYPE level gauge',
        'level 5',
      ]);
      expect(reasonOf(poller)).to.equal('1 metric file is shown');
    });

    it('does not take a counter whose name ends in _bucket for a bucket', () => {
      const key = (le: string): string => rubyKey('full_bucket', 'full_bucket', { le });
      write(
        'counter_1-0.db',
        [
          { key: key('1'), value: 1 },
          { key: key('2'), value: 2 },
        ],
        8,
      );
      expect(lines(polling(), 'full_bucket')).to.have.members([
        'full_bucket{le="1"} 1',
        'full_bucket{le="2"} 2',
      ]);
    });

    it('keeps a help text and a label with any characters', () => {
      const labels = { path: 'a"b\\c\nd' };
      write('counter_1.db', [
        { key: pythonKey('vllm:x', 'vllm:x_total', labels, 'é\n'), value: 1 },
      ]);
      expect(lines(polling(), '')).to.include.members([
        '# HELP vllm:x_total é\\n',
        'vllm:x_total{path="a\\"b\\\\c\\nd"} 1',
      ]);
    });

    it('shows counters of the Ruby dialect under their own names', () => {
      write('counter_1-0.db', [{ key: rubyKey('hits', 'hits', { a: '1' }), value: 2 }], 8);
      expect(lines(polling(), '')).to.include.members([
        '# HELP hits Multiprocess metric',
        '# TYPE hits counter',
        'hits{a="1"} 2',
      ]);
    });
  });

  describe('with faulty files', () => {
    it('leaves out each, names the first, and shows the others', () => {
      write('counter_1.db', [count(3)]);
      truncateSync(write('counter_2.db', [count(5), count(5, { a: 'b' })]), 64);
      folder.write('shop/index.db', 'x');
      folder.write('shop/notes.txt', 'x');
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(lines(poller, 'multiprocess_')).to.include.members([
        'multiprocess_files 2',
        'multiprocess_left_out_files 2',
      ]);
      expect(reasonOf(poller)).to.match(
        /1 metric file is shown, 2 left out: shop\/counter_2.db states \d+ used bytes, but has only 64/,
      );
    });

    it('leaves out an entry with an invalid key, and shows the others of its file', () => {
      write('counter_1.db', [{ key: '["a b","a b",{},""]', value: 1 }, count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(lines(poller, 'multiprocess_left_out')).to.have.members([
        'multiprocess_left_out_files 0',
        'multiprocess_left_out_entries 1',
      ]);
      expect(reasonOf(poller)).to.match(/counter_1.db: key .* has the metric name "a b", allowed/);
    });

    it('leaves out an entry that its kind of file does not have', () => {
      write('summary_1.db', [{ key: pythonKey('a', 'a', { quantile: '0.5' }), value: 1 }]);
      expect(reasonOf(polling())).to.match(/has the name a, which no summary named a has/);
    });

    it('leaves out an entry whose key is no text but nested arrays', () => {
      const key = `[${'['.repeat(9000)}${']'.repeat(9000)},"a",{},""]`;
      write('counter_1.db', [{ key, value: 1 }, count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.match(
        /counter_1.db: key .* has the metric name of the type array/,
      );
    });

    it('takes the first of several entries of a file that are one series', () => {
      write('counter_1.db', [count(3), count(4), count(5)]);
      const path = write('counter_2.db', [count(6), count(7)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 9']);
      expect(lines(poller, 'multiprocess_left_out_entries')).to.deep.equal([
        'multiprocess_left_out_entries 3',
      ]);
      expect(reasonOf(poller)).to.match(/counter_1.db: key .* repeats a series of its file/);
      rmSync(path);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 9']);
    });

    it('takes an empty file for a new one, until it has been empty for long', () => {
      folder.write('shop/counter_1.db', '');
      const poller = polling();
      expect(reasonOf(poller)).to.equal('1 metric file is shown');
      pass(6000);
      expect(reasonOf(poller)).to.match(/1 left out: shop\/counter_1.db is empty/);
      write('counter_1.db', [count(3)]);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.equal('1 metric file is shown');
    });

    it('keeps the last values of a file that is damaged', () => {
      const path = write('counter_1.db', [count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      truncateSync(path, 16);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.match(/1 left out/);
    });

    it('keeps the last values of a file that grows beyond the limit', () => {
      const path = write('counter_1.db', [count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      writeFileSync(path, Buffer.from(Int32Array.of(2 ** 26 + 8).buffer), { flag: 'r+' });
      truncateSync(path, 2 ** 27);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.match(/states 67108872 used bytes, allowed: at most 67108864/);
    });

    it('omits series beyond the limit, and says so', () => {
      write('counter_1.db', [count(1), count(2, { a: '1' }), count(3, { a: '2' })]);
      const poller = polling({}, { segmentMaxItems: 2 });
      expect(lines(poller, 'req_total')).to.have.length(2);
      expect(reasonOf(poller)).to.match(/would exceed segment_max_items/);
    });

    it('leaves out the buckets of a histogram beyond the limit', () => {
      const bounds = Array.from({ length: 600 }, (_, at) => [`${at}.5`, 1] as const);
      write('histogram_1.db', histogram(2, { '+Inf': 1, ...Object.fromEntries(bounds) }));
      const poller = polling();
      expect(lines(poller, 'lat_bucket')).to.have.length(513);
      expect(reasonOf(poller)).to.match(/would exceed 512 buckets of its histogram/);
    });

    it('leaves out an entry with a very long key, and shows the others of its file', () => {
      write('counter_1.db', [count(1, { a: 'x'.repeat(70_000) }), count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.match(/key .{100,140} has 700\d\d bytes, allowed: at most 65536/);
    });

    it('opens no link, and no file that others may write', () => {
      symlinkSync(write('real.tmp', [count(3)]), folder.path('shop/counter_1.db'));
      chmodSync(write('counter_2.db', [count(3)]), 0o666);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal([]);
      expect(reasonOf(poller)).to.match(/2 left out: shop\/counter_1.db is a link/);
      expect(lines(poller, 'multiprocess_left_out_files')).to.deep.equal([
        'multiprocess_left_out_files 2',
      ]);
    });

    it('reads files that the group may write', () => {
      chmodSync(write('counter_1.db', [count(3)]), 0o664);
      expect(lines(polling(), 'req_total')).to.deep.equal(['req_total 3']);
    });

    it('reads files of trusted users only, and in a shared directory not of all users', function () {
      needsRoot(this);
      chownSync(write('counter_1.db', [count(3)]), OTHER_USER, OTHER_USER);
      expect(lines(polling(), 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(polling({}, { trustedOwners: [1] }))).to.match(
        /belongs to user 1234, who is not in trusted_owners/,
      );
      chmodSync(folder.path('shop'), 0o1777);
      expect(reasonOf(polling())).to.match(/belongs to user 1234/);
      const trusting = polling({}, { trustedOwners: [OTHER_USER] });
      expect(lines(trusting, 'req_total')).to.deep.equal(['req_total 3']);
    });

    it('refuses a directory that all users may change', () => {
      chmodSync(folder.path('shop'), 0o777);
      const { publisher } = pollAll(polling());
      expect(publisher.state).to.equal('absent');
      expect(publisher.reason).to.match(/shop is writable by other users, and has no sticky bit$/);
    });
  });

  describe('with files that go', () => {
    it('keeps the counts of removed files, and drops their gauges', () => {
      const paths = [
        write('counter_1.db', [count(3)]),
        write('histogram_1.db', histogram(2, { '1.0': 1, '+Inf': 1 })),
        write('gauge_max_1.db', [level(9)]),
      ];
      write('counter_2.db', [count(4)]);
      const poller = polling();
      expect(lines(poller, 'level')).to.deep.equal(['level 9']);
      // Written after the last read.
      writeFileSync(paths[0] ?? '', fileBytes([count(5)], 16, 4096));
      for (const path of paths) rmSync(path);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 9']);
      expect(lines(poller, 'lat_count')).to.deep.equal(['lat_count 2']);
      expect(lines(poller, 'level')).to.deep.equal([]);
      write('counter_1.db', [count(1)]);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 10']);
    });

    it('keeps a file that a truncated list of names lacks, and does not count it twice', () => {
      const memory = makeMemoryFolder();
      try {
        // In memory, lists begin with the newest name.
        const path = join(memory, 'counter_1.db');
        writeFileSync(path, fileBytes([count(3)]), { mode: 0o644 });
        const poller = polling({ directories: [memory] });
        expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
        for (let other = 0; other < 65_536; other++) symlinkSync('x', join(memory, `${other}`));
        expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
        expect(reasonOf(poller)).to.match(/has more than 65536 files/);
        for (let other = 0; other < 65_536; other++) unlinkSync(join(memory, `${other}`));
        expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
        rmSync(path);
        expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
        expect(lines(poller, 'multiprocess_files')).to.deep.equal(['multiprocess_files 0']);
      } finally {
        rmSync(memory, { recursive: true });
      }
    });

    it('drops the counts of removed files with keep_removed = false', () => {
      const path = write('counter_1.db', [count(3)]);
      const poller = polling({ keepRemoved: false });
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      rmSync(path);
      expect(lines(poller, 'req_total')).to.deep.equal([]);
    });

    it('adds the counts of a file that took the name of another one', () => {
      const path = write('counter_1.db', [count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      renameSync(write('new', [count(10)]), path);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 13']);
    });

    it('takes a file that is overwritten as it is now', () => {
      const path = write('counter_1.db', [count(3), count(1, { a: 'b' })]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.have.length(2);
      writeFileSync(path, fileBytes([count(10, { c: 'd' })], 16, 4096));
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total{c="d"} 10']);
    });

    it('begins anew if the directory is replaced, and says so', () => {
      write('counter_1.db', [count(3)]);
      const poller = polling();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      renameSync(folder.path('shop'), folder.path('old'));
      mkdirSync(folder.path('shop'), { mode: 0o755 });
      write('counter_7.db', [count(1)]);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 1']);
      const { publisher, warnings } = pollAll(poller);
      const sentence = 'shop was replaced (1 so far), so its sums begin again';
      expect(folder.bare(publisher.reason)).to.equal(`1 metric file is shown; ${sentence}`);
      expect(warnings?.map(folder.bare)).to.deep.equal([sentence]);
    });

    it('does not say that a directory was replaced which is only gone', () => {
      mkdirSync(folder.path('other'), { mode: 0o755 });
      const directories = [folder.path('shop'), folder.path('other')];
      const poller = polling({ directories, label: 'dir' });
      expect(reasonOf(poller)).to.equal('0 metric files are shown');
      rmSync(folder.path('other'), { recursive: true });
      expect(reasonOf(poller)).to.equal('0 metric files are shown');
      mkdirSync(folder.path('other'), { mode: 0o755 });
      expect(reasonOf(poller)).to.match(/; other was replaced \(1 so far\)/);
    });

    it('stays absent during a poll without any directory', () => {
      rmSync(folder.path('shop'), { recursive: true });
      const directories = Array.from({ length: 64 }, (_, at) => folder.path(`none${at}`));
      const poller = polling({ directories, label: 'dir' });
      const states = Array.from({ length: 20 }, () => poller.poll().publisher.state);
      expect(new Set(states)).to.deep.equal(new Set(['absent']));
    });

    it('says which directories are missing once it has looked for all, even if that takes several polls', () => {
      rmSync(folder.path('shop'), { recursive: true });
      const names = Array.from({ length: 64 }, (_, at) => folder.path(`none${at}`));
      const poller = polling({ directories: names, label: 'dir' });
      withFastClock(() => {
        const { hasMore, publisher } = poller.poll();
        const reason = 'its directories have not been read yet';
        expect({ hasMore, publisher }).to.deep.equal({
          hasMore: true,
          publisher: { state: 'absent', reason },
        });
        expect(pollAll(poller).publisher.reason).to.match(/^there is no directory .*none0 or /);
        mkdirSync(names.at(-1) ?? '', { mode: 0o755 });
        expect(pollAll(poller).publisher.state).to.equal('live');
      });
    });

    it('keeps its values if a round fails, and says why', () => {
      write('counter_1.db', [count(3)]);
      let isBroken = false;
      const nowMs = (): number => {
        if (isBroken) throw new Error('no clock');
        return 1000;
      };
      const poller = polling({}, { clocks: { nowMs, unixMs: () => Date.now() } });
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      isBroken = true;
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total 3']);
      expect(reasonOf(poller)).to.match(/no clock/);
      isBroken = false;
      expect(reasonOf(poller)).to.equal('1 metric file is shown');
    });

    it('has no page without the directory, and says which one is missing', () => {
      rmSync(folder.path('shop'), { recursive: true });
      const poller = polling();
      const { publisher, source } = pollAll(poller);
      expect(source).to.equal(undefined);
      expect(publisher).to.deep.equal({
        state: 'absent',
        reason: `there is no directory ${folder.path('shop')}`,
      });
      mkdirSync(folder.path('shop'), { mode: 0o755 });
      expect(pollAll(poller).publisher.state).to.equal('live');
    });
  });

  describe('with * in its path', () => {
    const all = (): Poller =>
      polling({ directories: [folder.path('*/metrics')], label: 'service' });
    const make = (name: string): void => {
      mkdirSync(folder.path(`${name}/metrics`), { recursive: true, mode: 0o755 });
    };

    it('shows each directory that matches, with its label', () => {
      for (const name of ['a', 'b', '.hidden']) make(name);
      folder.write('file', '');
      write('a/metrics/counter_1.db', [count(3, { service: 'x' })]);
      write('b/metrics/counter_1.db', [count(4)]);
      const poller = all();
      expect(lines(poller, 'req_total')).to.have.members([
        'req_total{service="a",exported_service="x"} 3',
        'req_total{service="b"} 4',
      ]);
      expect(lines(poller, 'multiprocess_files')).to.have.members([
        'multiprocess_files{service="a"} 1',
        'multiprocess_files{service="b"} 1',
      ]);
    });

    it('finds new directories at once if the path begins with a link', () => {
      mkdirSync(folder.path('real'), { mode: 0o755 });
      symlinkSync('real', folder.path('link'));
      // Neither was made just now.
      utimesSync(folder.path('real'), 1, 1);
      lutimesSync(folder.path('link'), 1, 1);
      const poller = polling({ directories: [folder.path('link/*')], label: 'service' });
      expect(pollAll(poller).publisher.state).to.equal('absent');
      mkdirSync(folder.path('real/a'), { mode: 0o755 });
      write('real/a/counter_1.db', [count(3)]);
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total{service="a"} 3']);
    });

    it('names links to directories, which it does not follow, but no other links', () => {
      make('a');
      write('a/metrics/counter_1.db', [count(3)]);
      const link = (target: string, path: string) => {
        symlinkSync(target, folder.path(path));
      };
      link('a', 'b');
      mkdirSync(folder.path('c'), { mode: 0o755 });
      link('../a/metrics', 'c/metrics');
      folder.write('file', '');
      for (const [index, target] of ['file', 'missing', 'e'].entries()) link(target, `d${index}`);
      link('e', 'e');
      const poller = all();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total{service="a"} 3']);
      const names = (texts: readonly string[] = []) =>
        texts.map((text) => text.replaceAll(`${folder.path('')}/`, ''));
      expect(names(pollAll(poller).warnings)).to.deep.equal([
        'b/metrics is below the link b',
        'c/metrics is a link',
      ]);
      expect(reasonOf(poller)).to.equal('1 metric file is shown: b/metrics is below the link b');
    });

    it('shows the first of two directories with one label, and says so', () => {
      for (const name of ['one/a', 'two/a', 'two/b']) {
        mkdirSync(folder.path(name), { recursive: true, mode: 0o755 });
        write(`${name}/counter_1.db`, [count(3)]);
      }
      const directories = [folder.path('one/*'), folder.path('two/*')];
      const poller = polling({ directories, label: 'service' });
      expect(lines(poller, 'req_total')).to.have.members([
        'req_total{service="a"} 3',
        'req_total{service="b"} 3',
      ]);
      expect(reasonOf(poller)).to.match(
        /2 metric files are shown: two\/a has the label service="a" of one\/a/,
      );
      rmSync(folder.path('one/a'), { recursive: true });
      expect(reasonOf(poller)).to.equal('2 metric files are shown');
    });

    it('gives each directory an object with another name', () => {
      for (const name of ['a.b', 'a_b', 'a b']) make(name);
      const [root] = pollAll(all()).source?.roots ?? [];
      const names = [...(root?.children ?? [])].map(({ name }) => name.split('.').at(-1));
      expect(names).to.have.members(['a_b', 'a_b_2', 'a_b_3']);
    });

    it('follows directories that come and go', () => {
      make('a');
      write('a/metrics/counter_1.db', [count(3)]);
      const poller = all();
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total{service="a"} 3']);
      make('b');
      write('b/metrics/counter_1.db', [count(4)]);
      expect(lines(poller, 'req_total')).to.have.length(2);
      rmSync(folder.path('a'), { recursive: true });
      expect(lines(poller, 'req_total')).to.deep.equal(['req_total{service="b"} 4']);
    });
  });

  it('reads changed values for a page, and not in other polls', () => {
    write('counter_1.db', [count(3)]);
    // After a recent change of the directory, each poll reads all files.
    utimesSync(folder.path('shop'), 1, 1);
    const poller = polling();
    const before = valuesOf(pollAll(poller));
    write('counter_1.db', [count(5)]);
    let result = poller.poll(false);
    while (result.hasMore) result = poller.poll(false);
    expect(valuesOf(result)).to.deep.equal(before);
    expect(valuesOf(pollAll(poller))).not.to.deep.equal(before);
  });

  it('reads and removes a large file in several polls', () => {
    const entries = Array.from({ length: 20_000 }, (_, at) => count(1, { a: `${at}` }));
    const path = write('counter_1.db', entries);
    const poller = polling({ keepRemoved: false });
    const pollsFor = (): number => {
      let polls = 1;
      while (poller.poll().hasMore) polls++;
      return polls;
    };
    expect(pollsFor()).to.be.above(4);
    expect(lines(poller, 'req_total')).to.have.length(20_000);
    rmSync(path);
    expect(pollsFor()).to.be.above(4);
    expect(lines(poller, 'req_total')).to.deep.equal([]);
  });

  it('adds at most 16 entries in a poll whose time is over', () => {
    write(
      'counter_1.db',
      Array.from({ length: 400 }, (_, at) => count(1, { a: `${at}` })),
    );
    const poller = polling();
    let polls = 1;
    withFastClock(() => {
      while (poller.poll().hasMore) polls++;
    });
    expect(polls).to.be.at.least(400 / 16);
  });

  it('closes a file that it is reading when it is closed', () => {
    const entries = Array.from({ length: 20_000 }, (_, at) => count(1, { a: `${at}` }));
    const path = write('counter_1.db', entries);
    const isOpen = (): boolean => descriptorsOf(path).length > 0;
    const poller = polling();
    while (!isOpen()) expect(poller.poll().hasMore).to.equal(true);
    poller.close();
    expect(isOpen()).to.equal(false);
  });

  it('reads many files in several polls', () => {
    for (let file = 0; file < 300; file++) write(`counter_${file}.db`, [count(1)]);
    const poller = polling();
    const polls: PollResult[] = [poller.poll()];
    while (polls.at(-1)?.hasMore === true) polls.push(poller.poll());
    expect(polls).to.have.length.above(1);
    expect(polls.at(-1)?.publisher.reason).to.equal('300 metric files are shown');
    expect(lines(poller, 'req_total')).to.deep.equal(['req_total 300']);
  });
});
