// Generates directories of metric files: several processes of one application that write some of its metrics.
import type { Random } from '#app/simulator/course.js';
import { GAUGE_MODES } from './metric-directory.js';
import type { Dialect, Entry, GaugeMode, MetricFile, MetricType } from './metric-directory.js';

/** Process ids that are no pids of this machine, as `process_identifier` may return them. */
const IDS = [
  ...['4194401', '4194402', '4194403', '0', 'worker_7', 'worker_id_0', 'uwsgi-1', 'a.b', 'web_1_2'],
  ...['max', 'all_1', 'gauge_all_1', 'counter'],
];
const MAX_PROCESSES = 5;
const MAX_FAMILIES = 6;
const MAX_SERIES = 4;

const LABELS = ['method', 'path', 'code', 'object', 'app', '_x', 'A9', 'server_key', 'quantile_'];
const LABEL_VALUES = [
  ...[
    'GET',
    '/',
    '200',
    '',
    ' ',
    'a"b',
    'back\\slash',
    'two\nlines',
    'grüße',
    '名',
    '🦀',
    '{}',
    ',',
  ],
  ...['a=b', '[1, 2]', '\\n', '0.5', '\u007f', 'tab\there', 'x'.repeat(300)],
];
const HELPS = [
  'Requests',
  'Time of a request in seconds',
  '',
  'a\\b',
  'two\nlines',
  'Größe "x"',
  '🦀',
];
const MIDDLES = [
  'requests',
  'vllm:tokens',
  'queue_depth',
  'Xx',
  'latency_seconds',
  ':colon:',
  '_u',
];

/** Bucket bounds as the libraries write them: each is a text of a number. */
const BOUNDS: Readonly<Record<Dialect, readonly (readonly string[])[]>> = {
  python: [
    ['0.005', '0.5', '1.0', '2.5', '10.0', '+Inf'],
    ['1.0', '2.0', '+Inf'],
    ['-1.0', '0.0', '1e+06', '+Inf'],
    ['0.1', '0.25', '+Inf'],
  ],
  ruby: [
    ['0.5', '1', '10', '+Inf'],
    ['0.005', '2.5', '+Inf'],
  ],
};

/** A metric of the application, which each process declares with the same type, labels and help. */
interface Metric {
  readonly dialect: Dialect;
  readonly type: MetricType;
  readonly mode: GaugeMode | '';
  readonly family: string;
  readonly help: string;
  /** The label sets of its series. */
  readonly sets: readonly Entry['labels'][];
  /** The bounds of a histogram. */
  readonly bounds: readonly string[];
}

const pick = <T>(random: Random, from: readonly [T, ...T[]] | readonly T[]): T => {
  const found = from[random.below(from.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};

const isOneIn = (random: Random, n: number): boolean => random.below(n) === 0;

function some<T>(random: Random, from: readonly T[], max: number): T[] {
  const left = [...from];
  return Array.from({ length: Math.min(left.length, random.below(max + 1)) }, () =>
    left.splice(random.below(left.length), 1),
  ).flat();
}

/** The files of a directory. No two series of it have the same name and labels in one process. */
export function anyDirectory(random: Random): MetricFile[] {
  const metrics = Array.from({ length: 1 + random.below(MAX_FAMILIES) }, (_, i) =>
    anyMetric(random, i),
  );
  const ids = new Set([pick(random, IDS), ...some(random, IDS, MAX_PROCESSES - 1)]);
  return [...ids].flatMap((id) => {
    const stride = isOneIn(random, 2) ? 8 : 16;
    return filesOf(random, id, stride, some(random, metrics, metrics.length));
  });
}

function anyMetric(random: Random, index: number): Metric {
  const dialect = isOneIn(random, 3) ? 'ruby' : 'python';
  const type = pick<MetricType>(random, ['counter', 'gauge', 'gauge', 'histogram', 'summary']);
  const names = some(random, LABELS, 3).toSorted();
  // Ruby's library prints the escape of a tab as it is in JSON, which the text format does not know.
  const values =
    dialect === 'ruby' ? LABEL_VALUES.filter((each) => !each.includes('\t')) : LABEL_VALUES;
  const sets = Array.from({ length: names.length === 0 ? 1 : 1 + random.below(MAX_SERIES) }, () =>
    names.map((name) => [name, pick(random, values)] as const),
  );
  return {
    ...{ dialect, type, help: dialect === 'ruby' ? '' : pick(random, HELPS) },
    mode: type === 'gauge' ? pick<GaugeMode>(random, GAUGE_MODES[dialect]) : '',
    // The first letter and the number at the end keep the names of two metrics apart.
    family: `${dialect === 'ruby' ? 'r' : 'p'}_${pick(random, MIDDLES)}_${index}`,
    sets: [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()],
    bounds: pick(random, BOUNDS[dialect]),
  };
}

function filesOf(
  random: Random,
  id: string,
  pythonStride: 8 | 16,
  metrics: readonly Metric[],
): MetricFile[] {
  const files = new Map<string, MetricFile & { readonly entries: Entry[] }>();
  for (const declared of metrics) {
    const { dialect, type, mode } = declared;
    // In a process of another release, a histogram of Python may have other bounds.
    const hasOthers = dialect === 'python' && isOneIn(random, 4);
    const metric = hasOthers ? { ...declared, bounds: pick(random, BOUNDS.python) } : declared;
    // Only files of newer versions have a time.
    const stride = dialect === 'ruby' ? 8 : mode.endsWith('mostrecent') ? 16 : pythonStride;
    const key = [dialect, type, mode].join(' ');
    const file = files.get(key) ?? { dialect, type, mode, id, stride, entries: [] };
    files.set(key, file);
    for (const set of metric.sets)
      if (!isOneIn(random, 4)) file.entries.push(...entriesOf(random, metric, set));
  }
  return [...files.values()];
}

function entriesOf(random: Random, metric: Metric, labels: Entry['labels']): Entry[] {
  const { dialect, type, mode, family, help, bounds } = metric;
  const entry = (suffix: string, value: number, more: Entry['labels'] = [], time = 0): Entry => ({
    ...{ family, sample: family + suffix, help, value, time },
    labels: [...labels, ...more].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  });
  switch (type) {
    case 'counter':
      return [entry(dialect === 'python' ? '_total' : '', anySummand(random))];
    case 'gauge':
      return [entry('', anyLevel(random, mode), [], anyTime(random, mode))];
    case 'summary':
      return [entry('_count', random.below(1000)), entry('_sum', anySummand(random))];
    case 'histogram': {
      const counts = bounds.map(() => (isOneIn(random, 3) ? 0 : random.below(2 ** 20)));
      let total = 0;
      const buckets = bounds.map((le, i) => {
        const [count = 0, before] = [counts[i], total];
        total += count;
        // Python's buckets have their own observations only, Ruby's also those of the buckets before.
        return entry('_bucket', dialect === 'python' ? count : before + count, [['le', le]]);
      });
      const sum = entry('_sum', anySummand(random));
      return dialect === 'python' ? [sum, ...buckets] : [sum, entry('_count', total), ...buckets];
    }
  }
}

/** A number whose sums are exact in any order, or rarely one that is not finite. */
function anySummand(random: Random): number {
  if (isOneIn(random, 40)) return pick(random, [NaN, Infinity, -Infinity]);
  if (isOneIn(random, 3)) return random.below(100);
  return random.below(2 ** 30) / 1024;
}

/** Any double for a gauge that is not summed. */
function anyLevel(random: Random, mode: string): number {
  if (mode.endsWith('sum')) return (isOneIn(random, 2) ? 1 : -1) * anySummand(random);
  if (isOneIn(random, 6)) {
    // The minimum of NaN and a number depends on the order of the files.
    const odd = [Infinity, -Infinity, 0, -0, 5e-324, Number.MAX_VALUE, 2 ** 53, 0.1 + 0.2];
    return pick(random, mode.includes('all') ? [...odd, NaN] : odd);
  }
  if (isOneIn(random, 3)) return random.below(10) - 5;
  return (random.next() - 0.5) * 10 ** (random.below(40) - 20);
}

/** Times, some of them equal, and some zero, like that of a gauge that was never set. */
function anyTime(random: Random, mode: string): number {
  if (!mode.endsWith('mostrecent') || isOneIn(random, 4)) return 0;
  return 1_790_000_000 + random.below(4) / 4;
}
