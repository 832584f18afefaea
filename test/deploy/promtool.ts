// Unit tests of rules, run by promtool.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Values by series, such as `up{job="shm"}`, in promtool's notation; one a minute. */
export type Values = Readonly<Record<string, string>>;

/** What an expression gives, by labels. */
export interface Expected {
  readonly expr: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

/** When expressions are evaluated: later than any alert waits, and a multiple of the evaluation interval. */
export const AT_MINUTES = 50;

/** Series that are fed to rules, and what expressions give afterwards. */
export interface RuleTest {
  readonly name: string;
  readonly values: Values;
  readonly expected: readonly Expected[];
}

/** Runs all tests in one process; returns what is wrong, by the names of the tests. JSON is YAML. */
export function testRules(
  file: string,
  rule_files: readonly string[],
  ruleTests: readonly RuleTest[],
): string {
  const tests = ruleTests.map(({ name, values, expected }) => ({
    name,
    interval: '1m',
    input_series: Object.entries(values).map(([series, text]) => ({ series, values: text })),
    promql_expr_test: expected.map(({ expr, samples }) => ({
      expr,
      eval_time: `${AT_MINUTES}m`,
      exp_samples: samples,
    })),
  }));
  // Rules are evaluated less often than in production: the time that promtool takes is proportional to the evaluations.
  const document = { rule_files, evaluation_interval: '5m', tests };
  writeFileSync(file, JSON.stringify(document));
  return promtool('test', 'rules', file);
}

/** The errors that promtool reports; empty if there are none. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
