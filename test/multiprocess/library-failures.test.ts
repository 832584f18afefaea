// Directories for which prometheus_client makes no page, or a wrong one. States what the library does and what the exporter
// shows, row by row.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PYTHON_0_21, RUBY, needsLibraries } from '../support/metric-libraries.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { familiesOf } from './compared-pages.js';
import { sizeOf, usedBytesOf, writeBytes } from './metric-directory.js';
import type { Dialect, Entry, GaugeMode, LabelPairs, MetricType } from './metric-directory.js';
import { Oracle } from './oracles.js';
import { multiprocessPoller, pageOf } from './shown-page.js';

type Series = Readonly<Record<string, number>>;

interface Row {
  readonly directory: string;
  readonly files: Readonly<Record<string, Buffer>>;
  /** The library that reads the directory; Python's by default. */
  readonly library?: 'ruby';
  /** The error of the library. */
  readonly fails?: RegExp;
  /** A line of the library's page, where the exporter's page differs. */
  readonly differs?: string;
  /** The series of the exporter, by name and labels. */
  readonly shows: Series;
  /** The numbers of files and entries that the exporter leaves out; none by default. */
  readonly leftOut?: readonly [files: number, entries: number];
  /** The words of the exporter about the first of them. */
  readonly reason?: RegExp;
}

interface FileOptions {
  readonly type?: MetricType;
  readonly mode?: GaugeMode | '';
  readonly stride?: 8 | 16;
  readonly dialect?: Dialect;
}

/** The whole bytes of a file. */
function fileOf(entries: readonly Entry[], options: FileOptions = {}): Buffer {
  const { type = 'counter', mode = '', dialect = 'python' } = options;
  const stride = options.stride ?? (dialect === 'ruby' ? 8 : 16);
  const used = usedBytesOf({ dialect, type, mode, id: '1', stride, entries });
  return Buffer.concat([used, Buffer.alloc(sizeOf(dialect, used.length) - used.length)]);
}

/** The bytes with another text in place of one of the same length. */
function rewritten(bytes: Buffer, from: string, to: string): Buffer {
  const at = bytes.indexOf(from);
  if (at < 0 || from.length !== to.length) throw new Error(`${from} cannot become ${to}`);
  bytes.write(to, at);
  return bytes;
}

const entry = (sample: string, value: number, more: Partial<Entry> = {}): Entry => ({
  ...{ family: sample, sample, labels: [], help: 'Help.', value, time: 0 },
  ...more,
});

const counter = (value: number, more: Partial<Entry> = {}): Entry =>
  entry('done_total', value, { family: 'done', ...more });

const bucket = (le: string, value: number): Entry =>
  entry('lat_bucket', value, { family: 'lat', labels: [['le', le]] });
const sum = (value: number): Entry => entry('lat_sum', value, { family: 'lat' });
const labels = (...pairs: LabelPairs): Partial<Entry> => ({ labels: pairs });

/** A file that every row can have beside its own ones. */
const GOOD = { 'counter_9.db': fileOf([counter(5)]) };
const DONE: Series = { 'done_total{}': 5 };
const gauge = (mode: GaugeMode, ...entries: readonly Entry[]): Buffer =>
  fileOf(entries, { type: 'gauge', mode });
const histogram = (...entries: readonly Entry[]): Buffer => fileOf(entries, { type: 'histogram' });

const ROWS: readonly Row[] = [
  {
    directory: 'an empty file, whose process has just created it,',
    files: { ...GOOD, 'counter_1.db': Buffer.alloc(0) },
    fails: /unpack_from/,
    shows: DONE,
  },
  {
    directory: 'a page of zeros, whose process has just created it,',
    files: { ...GOOD, 'counter_1.db': Buffer.alloc(65_536) },
    shows: DONE,
  },
  {
    directory: 'a file that ends within an entry',
    files: { ...GOOD, 'counter_1.db': fileOf([counter(1)]).subarray(0, 40) },
    fails: /unpack_from/,
    shows: DONE,
    leftOut: [1, 0],
    reason: /counter_1\.db/,
  },
  {
    directory: 'a file of an older release beside one of a newer release',
    files: { ...GOOD, 'counter_1.db': fileOf([counter(2), entry('x', 1)], { stride: 8 }) },
    fails: /./,
    shows: { 'done_total{}': 7, 'x{}': 1 },
  },
  {
    directory: 'a database of another program',
    files: { ...GOOD, 'cache.db': Buffer.from('SQLite format 3\0'.padEnd(4096, '\0')) },
    fails: /./,
    shows: DONE,
    leftOut: [1, 0],
    reason: /cache\.db/,
  },
  {
    directory: 'a gauge without an identifier',
    files: { ...GOOD, 'gauge_max.db': gauge('max', entry('x', 1)) },
    fails: /IndexError/,
    shows: DONE,
    leftOut: [1, 0],
    reason: /gauge_max\.db/,
  },
  {
    directory: 'a file of Ruby',
    files: {
      ...GOOD,
      'counter_1-0.db': fileOf([entry('ruby_total', 3, labels(['a', null]))], { dialect: 'ruby' }),
    },
    fails: /./,
    shows: { ...DONE, 'ruby_total{}': 3 },
  },
  {
    directory: 'an identifier with underscores',
    files: { ...GOOD, 'gauge_all_worker_7.db': gauge('all', entry('x', 1)) },
    differs: 'x{pid="wor"} 1.0',
    shows: { ...DONE, 'x{"pid":"worker_7"}': 1 },
  },
  {
    directory: 'a most recent value that was never set',
    files: { ...GOOD, 'gauge_mostrecent_1.db': gauge('mostrecent', entry('x', 0)) },
    shows: DONE,
  },
  {
    directory: 'two most recent values of the same time',
    files: {
      ...GOOD,
      'gauge_mostrecent_1.db': gauge('mostrecent', entry('x', 2, { time: 7 })),
      'gauge_mostrecent_2.db': gauge('mostrecent', entry('x', 3, { time: 7 })),
      'gauge_mostrecent_3.db': gauge('mostrecent', entry('x', 1, { time: 7 })),
    },
    shows: { ...DONE, 'x{}': 3 },
  },
  {
    directory: 'a metric with two types',
    files: { ...GOOD, 'gauge_max_1.db': gauge('max', entry('done', 8)) },
    differs: 'done 8.0',
    shows: DONE,
    leftOut: [0, 1],
    reason: /done/,
  },
  {
    directory: 'a NaN in one of two counters',
    files: { ...GOOD, 'counter_1.db': fileOf([counter(NaN)]) },
    shows: { 'done_total{}': NaN },
  },
  {
    directory: 'histograms with different bounds',
    files: {
      'histogram_1.db': histogram(sum(3), bucket('1.0', 1), bucket('+Inf', 1)),
      'histogram_2.db': histogram(sum(4), bucket('2.0', 1), bucket('+Inf', 1)),
    },
    shows: {
      'lat_bucket{"le":"1.0"}': 1,
      'lat_bucket{"le":"2.0"}': 2,
      'lat_bucket{"le":"+Inf"}': 4,
      'lat_count{}': 4,
      'lat_sum{}': 7,
    },
  },
  {
    directory: 'a histogram whose process has not yet added the last buckets',
    files: { ...GOOD, 'histogram_1.db': histogram(sum(0), bucket('1.0', 0)) },
    differs: 'lat_count 0.0',
    shows: DONE,
  },
  {
    directory: 'a key that is no JSON text',
    files: {
      ...GOOD,
      'counter_1.db': rewritten(fileOf([entry('y', 1), counter(2)]), '"y", "y"', '"y"; "y"'),
    },
    fails: /JSONDecodeError/,
    shows: { 'done_total{}': 7 },
    leftOut: [0, 1],
    reason: /counter_1\.db/,
  },
  {
    directory: 'a tab in a label value, which Ruby does not unescape',
    files: { 'counter_1-0.db': fileOf([entry('x', 1, labels(['a', '\t']))], { dialect: 'ruby' }) },
    library: 'ruby',
    differs: 'x{a="\\t"} 1',
    shows: { 'x{"a":"\\t"}': 1 },
  },
  {
    directory: 'an infinity, which Ruby prints in a form of its own',
    files: { 'counter_1-0.db': fileOf([entry('x', Infinity)], { dialect: 'ruby' }) },
    library: 'ruby',
    differs: 'x Inf',
    shows: { 'x{}': Infinity },
  },
];

describe('a directory with', function () {
  this.slow(5000);
  const folder = temporaryFolder();
  let python: Oracle | undefined;
  let ruby: Oracle | undefined;
  before(function () {
    needsLibraries(this, PYTHON_0_21, RUBY);
    [python, ruby] = [new Oracle(PYTHON_0_21), new Oracle(RUBY)];
  });
  after(async () => {
    await python?.close();
    await ruby?.close();
  });

  for (const row of ROWS)
    it(`${row.directory} ${row.fails === undefined ? 'has a right page' : 'fails the library, not the exporter'}`, async () => {
      const path = folder.path('metrics');
      mkdirSync(path);
      for (const [name, bytes] of Object.entries(row.files)) writeBytes(join(path, name), bytes);
      const answer = await (row.library === 'ruby' ? ruby : python)?.pageOf({ path });
      if (answer === undefined) throw new Error('there is no oracle');
      if ('error' in answer) expect(answer.error).to.match(row.fails ?? /^$/);
      else {
        expect(row.fails).to.equal(undefined);
        if (row.differs !== undefined) expect(answer.page.split('\n')).to.include(row.differs);
      }
      expectShown(path, row);
    });

  it('two help texts of a metric has that of the first file by name', () => {
    const path = folder.path('metrics');
    mkdirSync(path);
    writeBytes(join(path, 'counter_2.db'), fileOf([counter(1, { help: 'Second.' })]));
    writeBytes(join(path, 'counter_1.db'), fileOf([counter(1, { help: 'First.' })]));
    const poller = multiprocessPoller({ directories: [path] });
    try {
      expect(familiesOf(pageOf(poller).page).get('done_total')?.help).to.equal('First.');
    } finally {
      poller.close();
    }
  });

  it('a file that is removed after it was read keeps its counts', () => {
    const path = folder.path('metrics');
    mkdirSync(path);
    writeBytes(join(path, 'counter_1.db'), fileOf([counter(2)]));
    writeBytes(join(path, 'counter_2.db'), fileOf([counter(5)]));
    const poller = multiprocessPoller({ directories: [path] });
    try {
      pageOf(poller);
      rmSync(join(path, 'counter_1.db'));
      expect(seriesIn(pageOf(poller).page).get('done_total{}')).to.equal(7);
    } finally {
      poller.close();
    }
  });
});

/** All series of a page, except those about the directory. */
function seriesIn(page: string): Map<string, number> {
  return new Map([...familiesOf(page).values()].flatMap(({ series }) => [...series]));
}

function expectShown(path: string, { shows, leftOut = [0, 0], reason }: Row): void {
  const poller = multiprocessPoller({ directories: [path] });
  try {
    const { polled, page } = pageOf(poller);
    const series = seriesIn(page);
    const own = [...series].filter(([key]) => !key.startsWith('multiprocess_'));
    expect(Object.fromEntries(own)).to.deep.equal(shows);
    const counts = ['files', 'entries'].map((what) =>
      series.get(`multiprocess_left_out_${what}{}`),
    );
    expect(counts).to.deep.equal(leftOut);
    if (reason !== undefined) expect(polled.publisher.reason).to.match(reason);
  } finally {
    poller.close();
  }
}
