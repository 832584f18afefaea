// Tests the drafted metric of a variable, from its declaration and its name.
import { expect } from 'chai';
import { metricDraft } from '#app/dump/catalogue/metric-draft.js';
import type { DeclaredMetric } from '#app/dump/catalogue/metric-draft.js';

type Row = readonly [
  name: string,
  declared: Partial<Omit<DeclaredMetric, 'name'>>,
  metric: string,
  facts: string,
  guesses?: readonly string[],
];

const asCounter = 'a counter, judging by its name';
const asGauge = 'a gauge, judging by its name';

const ROWS: readonly Row[] = [
  // What the publisher declares is not a guess.
  ['sold', { kind: 'counter' }, 'sold_total', 'counter'],
  ['soldTotal', { kind: 'counter' }, 'sold_total', 'counter'],
  ['totalSold', { kind: 'counter' }, 'sold_total', 'counter'],
  ['total', { kind: 'gauge' }, 'all', 'gauge'],
  ['sold', { kind: 'counter', unit: 'pieces' }, 'sold_pieces_total', 'counter pieces'],
  ['soldPieces', { kind: 'counter', unit: 'pieces' }, 'sold_pieces_total', 'counter pieces'],
  ['room', { kind: 'gauge', unit: 'bytes' }, 'room_bytes', 'gauge bytes'],
  ['open', { type: 'bool' }, 'open', 'gauge'],
  ['wait', { type: 'histogram', unit: 'seconds' }, 'wait_seconds', 'histogram seconds'],
  ['waitCount', { type: 'summary' }, 'wait_number', 'summary'],
  // Units are converted to base units.
  [
    'wait',
    { type: 'histogram', unit: 'ms' },
    'wait_seconds',
    'histogram seconds * 0.001',
    ['seconds, converted from ms, as declared'],
  ],
  [
    'waitMs',
    { type: 'f64', kind: 'gauge' },
    'wait_seconds',
    'gauge seconds * 0.001',
    ['seconds, converted from ms, judging by its name'],
  ],
  [
    'full',
    { kind: 'gauge', unit: '%' },
    'full_ratio',
    'gauge ratio * 0.01',
    ['ratio, converted from %, as declared'],
  ],
  [
    'percentFull',
    { kind: 'gauge' },
    'full_ratio',
    'gauge ratio * 0.01',
    ['ratio, converted from percent, judging by its name'],
  ],
  [
    'memoryKB',
    { kind: 'gauge' },
    'memory_bytes',
    'gauge bytes * 1024',
    ['bytes, converted from kb, judging by its name'],
  ],
  [
    'bytesSent',
    { kind: 'counter' },
    'sent_bytes_total',
    'counter bytes',
    ['bytes, judging by its name'],
  ],
  [
    'uptime_hours',
    { kind: 'gauge' },
    'uptime_seconds',
    'gauge seconds * 3600',
    ['seconds, converted from hours, judging by its name'],
  ],
  // What the publisher does not declare is guessed from the name.
  ['clientDisconnects', {}, 'client_disconnects_total', 'counter', [asCounter]],
  ['messages', {}, 'messages_total', 'counter', [asCounter]],
  ['queuedMessages', {}, 'queued_messages', 'gauge', [asGauge]],
  ['maxConnections', {}, 'max_connections', 'gauge', [asGauge]],
  ['poolSizeUsed', {}, 'pool_size_used', 'gauge', [asGauge]],
  [
    'bytesReceived',
    {},
    'received_bytes_total',
    'counter bytes',
    [asCounter, 'bytes, judging by its name'],
  ],
  ['temperature', { type: 'f64' }, 'temperature', 'gauge', [asGauge]],
  ['totalSales', { type: 'f64' }, 'sales_total', 'counter', [asCounter]],
  ['whatever', {}, 'whatever', 'gauge', [asGauge]],
  // Words that have another meaning for promtool, and characters that are not allowed in metric names.
  ['# managed objs', {}, 'managed_objs', 'gauge', [asGauge]],
  ['count', { kind: 'gauge' }, 'number', 'gauge'],
  ['gaugeLevel', { kind: 'gauge' }, 'level', 'gauge'],
  ['bits', { kind: 'gauge' }, 'bit', 'gauge'],
  ['info', { kind: 'gauge' }, 'information', 'gauge'],
  ['日本', { kind: 'gauge' }, 'u65e5u672c', 'gauge'],
];

describe('The drafted metric for', () => {
  for (const [name, declared, metric, facts, guesses = []] of ROWS)
    it(`the variable "${name}" with ${JSON.stringify(declared)} is "${metric}": ${facts}`, () => {
      const whole: DeclaredMetric = { name, type: 'u64', kind: 'unknown', unit: '', ...declared };
      const draft = metricDraft(whole, { app: 'shop', alias: 'till' });
      const { type, unit, scale } = draft;
      const drafted = [type, unit, scale === 1 ? '' : `* ${scale}`].filter(Boolean).join(' ');
      expect(draft.name).to.equal(metric === '' ? 'shop_till' : `shop_till_${metric}`);
      expect({ drafted, guesses: draft.guesses }).to.deep.equal({ drafted: facts, guesses });
    });

  it('a second variable with the same name has a number before the unit in its name', () => {
    const sent: DeclaredMetric = { name: 'bytesSent', type: 'u64', kind: 'counter', unit: '' };
    const { name } = metricDraft(sent, { app: 'shop', alias: 'till' }, 2);
    expect(name).to.equal('shop_till_sent_2_bytes_total');
  });

  it('the application MyShop has a name that begins with MyShop', () => {
    const open: DeclaredMetric = { name: 'open', type: 'bool', kind: 'gauge', unit: '' };
    expect(metricDraft(open, { app: 'MyShop', alias: 'till' }).name).to.equal('MyShop_till_open');
  });
});
