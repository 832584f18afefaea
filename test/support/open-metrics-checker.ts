// A strict parser of OpenMetrics 1.0 text that shares no code with the product. It throws at the first
// violation.

export interface ReadFamily {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  /** The name, labels and value of each sample, in order. */
  readonly samples: readonly ReadSample[];
}

export interface ReadSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

interface Growing {
  readonly name: string;
  readonly meta: Map<string, string>;
  readonly samples: ReadSample[];
}

/**
 * The suffixes of sample names, by type. No other family may use a family's name with a suffix of its type.
 */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  unknown: [''],
  gauge: [''],
  stateset: [''],
  counter: ['_total', '_created'],
  info: ['_info'],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  summary: ['', '_count', '_sum', '_created'],
};
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$|^[+-]?inf(inity)?$|^nan$/i;
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** The families of a page, in order. */
export function readOpenMetrics(page: string): ReadFamily[] {
  ensure(page.endsWith('# EOF\n'), 'the page ends in # EOF and a line feed');
  const families: Growing[] = [];
  for (const line of page.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    if (line.startsWith('#')) addMetadata(families, line);
    else addSample(families, line);
  }
  const read = families.map(({ name, meta, samples }) => ({
    name,
    type: meta.get('TYPE') ?? 'unknown',
    unit: meta.get('UNIT') ?? '',
    help: meta.get('HELP') ?? '',
    samples,
  }));
  checkNames(read);
  for (const family of read) checkFamily(family);
  return read;
}

function addMetadata(families: Growing[], line: string): void {
  const [, keyword = '', name = '', text] = /^# (TYPE|UNIT|HELP) (\S+) (.*)$/s.exec(line) ?? [];
  ensure(text !== undefined && NAME.test(name), `a metadata line: ${line}`);
  let family = families.at(-1);
  if (family?.name !== name) {
    family = { name, meta: new Map(), samples: [] };
    families.push(family);
  }
  ensure(family.samples.length === 0, `metadata before samples: ${line}`);
  ensure(!family.meta.has(keyword), `one line of a kind: ${line}`);
  if (keyword === 'TYPE') ensure(text in ENDINGS, `a type: ${line}`);
  family.meta.set(keyword, keyword === 'HELP' ? unescaped(text, line) : text);
}

function addSample(families: Growing[], line: string): void {
  const [, name = '', inBraces, value = ''] = /^([^ {]+)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? [];
  ensure(NAME.test(name) && NUMBER.test(value), `a sample line: ${line}`);
  const family = families.at(-1);
  ensure(family !== undefined, `a family before ${line}`);
  const endings = ENDINGS[family.meta.get('TYPE') ?? 'unknown'] ?? [];
  ensure(
    endings.some((ending) => name === family.name + ending),
    `a sample of ${family.name}: ${line}`,
  );
  family.samples.push({ name, labels: labelsOf(inBraces, line), value: numberOf(value) });
}

function labelsOf(text: string | undefined, line: string): Map<string, string> {
  const labels = new Map<string, string>();
  if (text === undefined) return labels;
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,(?=.)|$)/gsy;
  while (pair.lastIndex < text.length) {
    const [, name = '', value] = pair.exec(text) ?? [];
    ensure(value !== undefined && !labels.has(name), `labels: ${line}`);
    labels.set(name, unescaped(value, line));
  }
  return labels;
}

function unescaped(text: string, line: string): string {
  ensure(/^([^"\\]|\\[n"\\])*$/s.test(text), `escaped text: ${line}`);
  return text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

const numberOf = (text: string): number =>
  /inf/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);

/** A family's name, and every sample name that its type allows, must not occur in another family. */
function checkNames(families: readonly ReadFamily[]): void {
  const owners = new Map<string, string>();
  const claim = (name: string, owner: string) => {
    const other = owners.get(name) ?? owner;
    ensure(other === owner, `${name} is of ${owner} alone, not of ${other}`);
    owners.set(name, owner);
  };
  families.forEach(({ name, type }, index) => {
    for (const ending of new Set(['', ...(ENDINGS[type] ?? [])]))
      claim(name + ending, `${name} (${index})`);
  });
}

function checkFamily({ name, type, unit, samples }: ReadFamily): void {
  if (unit !== '') {
    ensure(name.endsWith(`_${unit}`), `${name} ends in its unit ${unit}`);
    ensure(type !== 'info' && type !== 'stateset', `${name} has no unit as ${type}`);
  }
  const series = samples.map((sample) => `${sample.name} ${keyOf(sample.labels)}`);
  ensure(new Set(series).size === series.length, `${name} has each series once`);
  // The label that distinguishes the samples of one metric does not belong to the metric's identity.
  const inner = { histogram: 'le', summary: 'quantile', stateset: name }[type];
  const metrics = new Map<string, ReadSample[]>();
  let last = '';
  for (const sample of samples) {
    const key = keyOf(sample.labels, inner);
    ensure(key === last || !metrics.has(key), `${name} keeps the samples of ${key} together`);
    metrics.set(key, [...(metrics.get(key) ?? []), sample]);
    last = key;
  }
  for (const metric of metrics.values()) checkMetric(name, type, metric);
}

function checkMetric(name: string, type: string, samples: readonly ReadSample[]): void {
  const values = (ending: string) =>
    samples.filter((sample) => sample.name === name + ending).map(({ value }) => value);
  const isCount = (value: number) => value >= 0;
  switch (type) {
    case 'counter':
      ensure(values('_total').every(isCount), `${name} counts from 0 up`);
      return;
    case 'info':
      ensure(
        values('_info').every((value) => value === 1),
        `${name} is 1`,
      );
      return;
    case 'stateset':
      for (const { labels, value } of samples) {
        ensure(labels.has(name), `${name} has a label of its name`);
        ensure(value === 0 || value === 1, `${name} is 0 or 1`);
      }
      return;
    case 'summary':
      for (const { labels } of samples.filter((sample) => sample.name === name)) {
        const quantile = Number(labels.get('quantile'));
        ensure(quantile >= 0 && quantile <= 1, `${name} has quantiles from 0 to 1`);
      }
      ensure(!values('').some((value) => value < 0), `${name} has no negative quantiles`);
      ensure([...values('_count'), ...values('_sum')].every(isCount), `${name} counts from 0 up`);
      return;
    case 'histogram':
      checkHistogram(name, samples, values);
  }
}

function checkHistogram(
  name: string,
  samples: readonly ReadSample[],
  values: (ending: string) => readonly number[],
): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) => numberOf(labels.get('le') ?? 'NaN'));
  const counts = buckets.map(({ value }) => value);
  const isOrdered = (list: readonly number[], fits: (a: number, b: number) => boolean) =>
    list.every((entry, i) => i === 0 || fits(list[i - 1] ?? NaN, entry));
  ensure(bounds.at(-1) === Infinity, `${name} has a bucket +Inf at the end`);
  ensure(
    isOrdered(bounds, (a, b) => a < b),
    `${name} has bounds that ascend`,
  );
  ensure(
    isOrdered(counts, (a, b) => a <= b),
    `${name} has cumulative buckets`,
  );
  // If observations may be negative, their sum may fall. OpenMetrics then forbids `_sum`, and therefore
  // also `_count`.
  const hasSum = !bounds.some((bound) => bound < 0);
  const sums = values('_sum');
  ensure(sums.length === Number(hasSum), `${name} has ${hasSum ? 'a' : 'no'} sum`);
  ensure(
    sums.every((sum) => sum >= 0),
    `${name} has a sum from 0 up`,
  );
  ensure(
    values('_count')[0] === (hasSum ? counts.at(-1) : undefined),
    `${name} counts what is in its buckets`,
  );
}

const keyOf = (labels: ReadonlyMap<string, string>, without?: string): string =>
  JSON.stringify([...labels].filter(([label]) => label !== without).toSorted());

function ensure(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`OpenMetrics wants ${rule}`);
}
