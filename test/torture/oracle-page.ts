// Checks a page of the oracle's publisher, in which every value identifies its object and round.

/** As in publisher/oracle.c. */
const MODULUS = 1_000_003;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

/** One object on a page. */
interface Shown {
  scalars: number;
  texts: number;
  readonly buckets: Map<string, number>;
  readonly quantiles: Map<string, number>;
  round: number;
}

export interface Checked {
  /** The number of series that were compared. */
  readonly values: number;
  readonly faults: readonly string[];
  /** The number of missing texts, histograms and summaries. */
  readonly lacking: number;
  /**
   * The round of each object's variable `number`. No later page of the same publisher may show an earlier
   * round.
   */
  readonly rounds: ReadonlyMap<number, number>;
}

const LINE = /^oracle_item_(\w+)\{object="o(\d+)"(?:,(le|quantile|value)="([^"]*)")?\} (\S+)$/;

/**
 * @param before the rounds on an earlier page; no object may return to an earlier round
 * @param mayLack whether complete texts, histograms and summaries may be missing, because the page counts
 * values that could not be copied consistently
 */
export function checkPage(
  body: string,
  objects: number,
  before: ReadonlyMap<number, number> = new Map(),
  mayLack = false,
): Checked {
  const faults: string[] = [];
  const seen = new Set<string>();
  const shown = new Map<number, Shown>();
  let values = 0;
  for (const line of body.split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('shm_exporter_')) continue;
    const [, name = '', id = '', , label = '', value = ''] = LINE.exec(line) ?? [];
    const number = Number(id);
    if (name === '' || number >= objects) {
      faults.push(`foreign: ${line}`);
      continue;
    }
    const key = line.slice(0, line.lastIndexOf(' ')).replace(/value="[^"]*"/, '');
    if (seen.has(key)) faults.push(`twice: ${line}`);
    seen.add(key);
    values++;
    const object = shown.get(number) ?? {
      ...{ scalars: 0, texts: 0, buckets: new Map(), quantiles: new Map(), round: 0 },
    };
    shown.set(number, object);
    if (!isOwn(object, name, label, value, number)) faults.push(`wrong: ${line}`);
  }
  let lacking = 0;
  for (const [id, object] of shown) {
    const { scalars, texts, buckets, quantiles } = object;
    const none = [texts, buckets.size, quantiles.size].filter((count) => count === 0).length;
    lacking += none;
    if (scalars !== 2 || (none > 0 && !mayLack))
      faults.push(`o${id} has ${scalars + texts + buckets.size + quantiles.size} series`);
    if (buckets.size > 0 && !isWhole(object))
      faults.push(`torn: o${id} ${JSON.stringify([...object.buckets])}`);
    if (quantiles.size > 0 && !isWholeSummary(object, id))
      faults.push(`torn: o${id} ${[...object.quantiles].join(' ')}`);
    if (object.round < (before.get(id) ?? 0)) faults.push(`back: o${id} to ${object.round}`);
  }
  if (shown.size !== objects) faults.push(`${shown.size} objects instead of ${objects}`);
  return {
    values,
    faults,
    lacking,
    rounds: new Map([...shown].map(([id, { round }]) => [id, round])),
  };
}

/** Records a value. Returns false if it cannot be a value of this object. */
function isOwn(object: Shown, name: string, label: string, text: string, id: number): boolean {
  const value = Number(text);
  switch (name) {
    case 'number':
      object.scalars++;
      object.round = Math.floor(value / MODULUS);
      return value % MODULUS === id;
    case 'real':
      object.scalars++;
      return (value * 2) % MODULUS === id;
    case 'text_info':
      object.texts++;
      return isText(label, id) && value === 1;
    case 'size':
    case 'size_sum':
    case 'size_count':
      object.quantiles.set(name === 'size' ? label : name, value);
      return Number.isInteger(value);
    case 'delay_bucket':
    case 'delay_sum':
    case 'delay_count':
      object.buckets.set(name === 'delay_bucket' ? label : name, value);
      return true;
    default:
      return false;
  }
}

function isText(text: string, id: number): boolean {
  const [owner, round, rest = ''] = text.split(':');
  const letter = ALPHABET[Number(round) % 26] ?? '';
  return owner === String(id) && rest === letter.repeat(Number(round) % 40);
}

/**
 * Each round observes 0.5, then 1.5, then 2.5. So a bucket may be one ahead of the buckets after it, but not
 * behind.
 */
function isWhole({ buckets }: Shown): boolean {
  const of = (key: string) => buckets.get(key) ?? NaN;
  const [first, second, all] = [of('1'), of('2'), of('+Inf')];
  const [a, b, c] = [first, second - first, all - second];
  const sum = 0.5 * a + 1.5 * b + 2.5 * c;
  return a >= b && b >= c && c >= a - 1 && of('delay_sum') === sum && of('delay_count') === all;
}

function isWholeSummary({ quantiles }: Shown, id: number): boolean {
  const of = (key: string) => quantiles.get(key) ?? NaN;
  const round = of('size_count');
  const own = round * MODULUS + id;
  return of('size_sum') === own && of('0.5') === own && of('0.9') === own + round;
}
