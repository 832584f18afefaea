// Tests how the rows of a catalogue state the rules of values of workers.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { defaultsOf } from '#app/rules/table.js';
import { compileRules } from '#app/workers/row-rules.js';
import { WORKERS_SETTINGS } from '#app/workers/settings.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const rows = (...lines: readonly string[]): string => `app = "shop"
[[classes]]
alias = "till"
class_ids = ["Till", "OldTill"]
paths = ["{till}"]
metrics = [
${lines.map((line) => `  { help = "H", ${line} },\n`).join('')}]
`;

describe('the rules of catalogue rows for workers', () => {
  const folder = temporaryFolder();
  /** The rules that the plan gives to the format of a target. */
  const rulesOf = (catalogue: string, format = 'workers'): unknown => {
    folder.write('shop.toml', catalogue);
    const settings = format === 'workers' ? 'format_settings = { segments = ["shop-*"] }\n' : '';
    const configFile = folder.write(
      'c.toml',
      'catalogue_files = ["shop.toml"]\n[[targets]]\napp = "shop"\nserver_key = "all"\n' +
        `format = "${format}"\n${settings}`,
    );
    const [planned] = planTargets(loadConfig({ configFile, overrides: {} }));
    return planned?.definition.formatSettings['rows'];
  };
  const GAUGE = 'name = "shop_queue", type = "gauge", var = "queue"';

  const table: readonly (readonly [title: string, row: string, rule: string | undefined])[] = [
    ['the rule that a gauge states', `${GAUGE}, workers = "each"`, 'each'],
    ['no rule of a gauge that states none', GAUGE, undefined],
    [
      'counts for a counter',
      'name = "shop_queue_total", type = "counter", var = "queue"',
      'counter',
    ],
  ];
  for (const [title, row, rule] of table)
    it(`are ${title}`, () =>
      expect(rulesOf(rows(row))).to.deep.equal(
        rule === undefined
          ? []
          : ['Till', 'OldTill'].map((className) => ({ className, variable: 'queue', rule })),
      ));

  it('are counts for the sum and the count of a summary', () =>
    expect(
      rulesOf(rows('name = "shop_wait", type = "summary", sum_var = "s", count_var = "c"')),
    ).to.deep.include.members([
      { className: 'Till', variable: 's', rule: 'counter' },
      { className: 'Till', variable: 'c', rule: 'counter' },
    ]));

  it('have no effect for other formats', () =>
    expect(rulesOf(rows(`${GAUGE}, workers = "max"`), 'native')).to.equal(undefined));

  const refused: readonly (readonly [row: string, message: RegExp])[] = [
    [
      `${GAUGE}, workers = "mean"`,
      /metrics\[0\]\.workers: found "mean".*, allowed: "sum" or "min" or "max" or "each"/,
    ],
    [
      'name = "shop_queue_total", type = "counter", var = "queue", workers = "max"',
      /metrics\[0\]\.workers: is not allowed for type counter, whose values are added/,
    ],
  ];
  for (const [row, message] of refused)
    it(`cannot be those of { ${row} }`, () =>
      expect(faultMessage('CONFIG_INVALID', () => rulesOf(rows(row)))).to.match(message));
});

describe('the rule of a gauge that states a metric', () => {
  const ruleOf = (metric: string, own: object = {}): string =>
    compileRules({ ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'], ...own })('Metrics', {
      ...{
        name: `${metric}{room="1"}`,
        type: 'f64',
        kind: 'gauge',
        unit: '',
        help: '',
        schema: [],
      },
      metric: { name: metric, help: '', labels: { room: '1' } },
    });

  const table: readonly (readonly [metric: string, settings: object, rule: string])[] = [
    ['shop_open_sessions', {}, 'sum'],
    ['shop_build_info', {}, 'max'],
    ['shop_last_success_timestamp_seconds', {}, 'max'],
    ['process_start_time_seconds', {}, 'min'],
    ['shop_build_info', { gauges: 'min' }, 'max'],
    ['shop_build_info', { each: ['*_info'] }, 'each'],
    ['shop_length', { max: ['shop_length'] }, 'max'],
    ['shop_length', { max: ['shop_length{*'] }, 'max'],
    ['shop_lengths', { max: ['shop_length'] }, 'sum'],
  ];
  for (const [metric, settings, rule] of table)
    it(`is ${rule} for ${metric} with ${JSON.stringify(settings)}`, () =>
      expect(ruleOf(metric, settings)).to.equal(rule));

  it('is sum for a variable of a managed tree, whatever its name is', () =>
    expect(
      compileRules({ ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'] })('Till', {
        ...{ name: 'open_info', type: 'f64', kind: 'gauge', unit: '', help: '', schema: [] },
      }),
    ).to.equal('sum'));
});
