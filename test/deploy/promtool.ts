// Runs unit tests of rules with promtool.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Samples by series, such as `up{job="shm"}`, in promtool's notation, one per minute. */
export type Values = Readonly<Record<string, string>>;

/** The expected result of an expression, by labels. */
export interface Expected {
  readonly expr: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

/**
 * The time at which expressions are evaluated: after the longest `for` of an alert, and a multiple of the
 * evaluation interval.
 */
export const AT_MINUTES = 50;

/** The input series of rules, and the expected results of expressions. */
export interface RuleTest {
  readonly name: string;
  readonly values: Values;
  readonly expected: readonly Expected[];
}

/**
 * Runs all tests in one process and returns the errors, with the names of the tests. The file is JSON, which
 * is also YAML.
 */
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
  // Evaluate rules less often than in production, because promtool's running time is proportional to the
  // evaluations.
  const document = { rule_files, evaluation_interval: '5m', tests };
  writeFileSync(file, JSON.stringify(document));
  return promtool('test', 'rules', file);
}

/** Returns the errors that promtool reports; empty if there are none. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
