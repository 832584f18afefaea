// How the values of workers become one: by the settings of the target, then by the rows of its catalogue.
import type { Catalogue } from '../catalogue/catalogue.js';
import { compileVariablePattern } from '../catalogue/match/patterns.js';
import type { Row } from '../catalogue/row.js';
import type { Declaration } from '../model.js';
import { fitsAny } from '../rules/formats.js';
import type { WorkerRule } from '../rules/formats.js';
import type { WorkersSettings } from './settings.js';

/** `counter` adds counts, also those of workers that have ended. */
export type ValueRule = WorkerRule | 'counter';

/** The rule of a catalogue row for variables. Plain data, since threads receive it. */
export interface RowRule {
  readonly className: string;
  /** The name of the variable, or a pattern such as `port.{port}`. */
  readonly variable: string;
  readonly rule: ValueRule;
}

/** The settings of a target, and the rules of its catalogue. */
export interface FoldSettings extends WorkersSettings {
  readonly rows?: readonly RowRule[] | undefined;
}

/** Whether the variables of a row only grow: it shows a counter, or the sum and the count of a summary. */
const areCounters = ({ family: { type }, inputs }: Row): boolean =>
  type === 'counter' || (type === 'summary' && inputs.length > 1);

/** The rules of all rows that state one. */
export const rowRulesOf = ({ classes }: Catalogue): readonly RowRule[] =>
  classes.flatMap(({ classIds, rows }) =>
    rows.flatMap((row) =>
      row.inputs.flatMap(({ variable, workers }) => {
        const rule = areCounters(row) ? 'counter' : workers;
        const ids = row.classId === undefined ? classIds : [row.classId];
        return rule === undefined ? [] : ids.map((className) => ({ className, variable, rule }));
      }),
    ),
  );

/** Returns the rule of a variable of a class. */
export type RuleOf = (className: string, declaration: Declaration) => ValueRule;

/** The rule of a gauge whose metric, by the naming conventions of Prometheus, has no meaningful sum. */
function ofConvention(metric: string): ValueRule | undefined {
  if (/_(info|timestamp_seconds)$/.test(metric)) return 'max';
  return metric.endsWith('_start_time_seconds') ? 'min' : undefined;
}

/**
 * Compiles the rules. What the publisher states as a counter or a distribution is always added. Then the settings of
 * the target count, then the first row that states a rule for the variable, then the name of a metric that the
 * variable states, then the setting `gauges`.
 */
export function compileRules({ gauges, rows = [], ...settings }: FoldSettings): RuleOf {
  const byClass = new Map<string, ((name: string) => ValueRule | undefined)[]>();
  for (const { className, variable, rule } of rows) {
    const rules = byClass.get(className) ?? [];
    byClass.set(className, rules);
    const pattern = compileVariablePattern(variable);
    const fits = (name: string): boolean =>
      pattern === undefined ? name === variable : pattern.capture(name) !== undefined;
    rules.push((name) => (fits(name) ? rule : undefined));
  }
  const ofRow = (className: string, name: string): ValueRule | undefined => {
    for (const each of byClass.get(className) ?? []) {
      const rule = each(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  };
  const { counters, min, max, each } = settings;
  const bySetting: readonly (readonly [ValueRule, readonly string[]])[] = [
    ['counter', counters],
    ['min', min],
    ['max', max],
    ['each', each],
  ];
  const ofSettings = (name: string): ValueRule | undefined =>
    bySetting.find(([, patterns]) => patterns.length > 0 && fitsAny(name, patterns))?.[0];
  return (className, { name, kind, type, metric }) => {
    if (kind === 'counter' || type === 'histogram' || type === 'summary') return 'counter';
    return (
      ofSettings(name) ??
      (metric && ofSettings(metric.name)) ??
      ofRow(className, name) ??
      (metric && ofConvention(metric.name)) ??
      gauges
    );
  };
}
