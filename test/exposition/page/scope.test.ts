// Patterns and scopes, as tables and against a naive implementation. Spec 2.3.
import { expect } from 'chai';
import fc from 'fast-check';
import { canSelectUnder, compilePattern, compileScope } from '#app/exposition/page/scope.js';
import type { MetricType } from '#app/model.js';

describe('the scope pattern (spec 2.3)', () => {
  const table: readonly (readonly [string, string, MetricType, boolean])[] = [
    // 1. An exact metric name matches that metric.
    ['ads_up', 'ads_up', 'gauge', true],
    ['ads_up', 'ads_uptime', 'gauge', false],
    ['ads_up', 'xads_up', 'gauge', false],
    ['ads_up', 'ADS_UP', 'gauge', false],
    ['ads_sent_total', 'ads_sent_total', 'counter', true],
    ['ads_sent', 'ads_sent_total', 'counter', false],
    ['ads_version_info', 'ads_version_info', 'info', true],
    // 2. A trailing `*` is a prefix match.
    ['ads_*', 'ads_up', 'gauge', true],
    ['ads_*', 'ads_', 'gauge', true],
    ['ads_*', 'adh_up', 'gauge', false],
    ['*', 'anything', 'unknown', true],
    ['**', 'anything', 'unknown', true],
    // 3. A `*` anywhere is a wildcard.
    ['ads_*_num_clients', 'ads_rssl_num_clients', 'gauge', true],
    ['ads_*_num_clients', 'ads__num_clients', 'gauge', true],
    ['ads_*_num_clients', 'ads_num_clients', 'gauge', false],
    ['ads_*_num_clients', 'ads_rssl_num_clients_max', 'gauge', false],
    ['*_clients', 'ads_num_clients', 'gauge', true],
    ['*_clients', 'ads_num_clients_max', 'gauge', false],
    ['a*b*c', 'abc', 'gauge', true],
    ['a*b*c', 'a1b2b3c', 'gauge', true],
    ['a*b*c', 'acb', 'gauge', false],
    ['a*bc*c', 'abc', 'gauge', false],
    ['ab*ba', 'aba', 'gauge', false],
    ['*ab*ab', 'xabab', 'gauge', true],
    ['*ab*ab', 'xab', 'gauge', false],
    ['a**b', 'ab', 'gauge', true],
    // 4. A pattern that matches a series name of a summary or histogram selects the whole metric.
    ['ads_delay', 'ads_delay', 'histogram', true],
    ['ads_delay_bucket', 'ads_delay', 'histogram', true],
    ['ads_delay_sum', 'ads_delay', 'histogram', true],
    ['ads_delay_count', 'ads_delay', 'summary', true],
    ['ads_delay_sum', 'ads_delay', 'summary', true],
    ['ads_delay_bucket', 'ads_delay', 'summary', false],
    ['*_count', 'ads_delay', 'summary', true],
    ['*_bucket', 'ads_delay', 'histogram', true],
    ['*_total', 'ads_delay', 'histogram', false],
    ['x', 'x_count', 'gauge', false],
    ['x_count', 'x', 'gauge', false],
    ['x_sum', 'x', 'counter', false],
    ['a.s', 'axs', 'gauge', false],
  ];
  for (const [pattern, name, type, wanted] of table)
    it(`"${pattern}" ${wanted ? 'selects' : 'does not select'} the metric ${name} (${type})`, () =>
      expect(compilePattern(pattern)({ name, type })).to.equal(wanted));

  /** Tries every split: a `*` matches nothing, or it matches one character and is then tried again. */
  const fits = (pattern: string, name: string): boolean => {
    if (pattern === '') return name === '';
    if (pattern.startsWith('*'))
      return fits(pattern.slice(1), name) || (name !== '' && fits(pattern, name.slice(1)));
    return name.startsWith(pattern.slice(0, 1)) && fits(pattern.slice(1), name.slice(1));
  };
  const few = (...units: readonly string[]) =>
    fc.string({ unit: fc.constantFrom(...units), maxLength: 9 });

  it('selects the same names as a naive matcher that tries every split', () => {
    fc.assert(
      fc.property(few('a', 'b', '*'), few('a', 'b'), (pattern, name) => {
        expect(compilePattern(pattern)({ name, type: 'gauge' })).to.equal(fits(pattern, name));
      }),
      { numRuns: 150 },
    );
  });

  it('accepts or rejects a name without trying all splits, even with 128 wildcards', () => {
    const matches = compilePattern(`${'*a'.repeat(127)}*b`);
    // The splits are too many to try within the time limit of a test.
    expect(matches({ name: 'a'.repeat(5000), type: 'gauge' })).to.equal(false);
  });
});

describe('the scope pattern', () => {
  const table = [
    ['demo_x', true],
    ['demo_*', true],
    ['de*', true],
    ['*', true],
    ['*_clients', true],
    ['demo_root_*_x', true],
    ['d*z*', true],
    ['demo', false],
    ['other_x', false],
    ['demp*', false],
    ['other_*', false],
  ] as const;
  for (const [pattern, wanted] of table)
    it(`"${pattern}" ${wanted ? 'can' : 'cannot'} select a metric whose name begins with demo_`, () =>
      expect(canSelectUnder(pattern, 'demo_')).to.equal(wanted));
});

describe('a scope', () => {
  it('selects each metric that matches at least one of its patterns', () => {
    const scope = compileScope({ name: 'few', metrics: ['a_*', 'b_x', 'c_x_sum'] });
    const metrics = [
      { name: 'a_1', type: 'gauge' },
      { name: 'b_x', type: 'counter' },
      { name: 'b_y', type: 'counter' },
      { name: 'c_x', type: 'summary' },
      { name: 'c_x', type: 'gauge' },
    ] as const;
    expect(scope.name).to.equal('few');
    for (let time = 0; time < 2; time++)
      expect(metrics.map((metric) => scope.selects(metric))).to.deep.equal([
        true,
        true,
        false,
        true,
        false,
      ]);
  });
});
