// The panel of one metric of a catalogue, which depends on the type of the metric.
import type { CatalogueClass } from '#app/catalogue/catalogue-class.js';
import { ownLabelsOf } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';
import { OBJECT_STATES } from '#app/model.js';
import type { Drawing, Queries, ValueMapping } from './dashboard.js';
import { labelTable, levelUnit, rateUnit, stat, stateTimeline, timeSeries } from './drawings.js';

/** The colours of states in timelines. */
const COLORS: Readonly<Record<string, string>> = {
  normal: 'green',
  live: 'green',
  valid: 'green',
  primary: 'green',
  init: 'blue',
  building: 'blue',
  superseded: 'blue',
  secondary: 'blue',
  standalone: 'blue',
  manual_recovery: 'orange',
  auto_recovery: 'orange',
  stalled: 'orange',
  grace: 'orange',
  early: 'orange',
  absent: 'purple',
  closed: 'purple',
  dead: 'red',
  invalid: 'red',
  incompatible: 'red',
  corrupt: 'red',
  expired: 'red',
};

interface StateSet {
  readonly metric: string;
  /** The label that names the state. */
  readonly label: string;
  readonly states: readonly string[];
  /** Further label matchers of the series, such as `job="a"`. */
  readonly selector: string;
  readonly by: readonly string[];
}

/**
 * A PromQL expression for the number of the current state: 1 for the first state, 0 if no state is set. A timeline of
 * the expression has one line for each object.
 */
export function stateNumber({ metric, label, states, selector, by }: StateSet): string {
  const each = states.map((state, at) => `${metric}{${selector},${label}="${state}"} * ${at + 1}`);
  return `sum by (${by.join(', ')}) (${each.join(' or ')})`;
}

/** The texts and colours for the results of `stateNumber`. */
export const stateMappings = (states: readonly string[]): readonly ValueMapping[] => [
  mapping(['none', ...states].map((state) => [state, COLORS[state] ?? 'text'])),
];

/** The texts and colours for 0 and 1. */
export const flagMappings = (
  no: readonly [text: string, color: string],
  yes: readonly [text: string, color: string],
): readonly ValueMapping[] => [mapping([no, yes])];

const mapping = (values: readonly (readonly [text: string, color: string])[]): ValueMapping => ({
  type: 'value',
  options: Object.fromEntries(
    values.map(([text, color], index) => [String(index), { text, color, index }]),
  ),
});

export interface ShownFamily {
  readonly owner: CatalogueClass;
  /** The first row of the family. */
  readonly row: Row;
  /** True if the panel shows only the ten series with the highest values. */
  readonly isMany: boolean;
  /** Labels that the segment format adds to all series, besides the labels of the catalogue. */
  readonly formatLabels: readonly string[];
}

/** Label matchers for the targets that the user selects in the dashboard. */
export const SELECTOR = 'job=~"$job",server_key=~"$server_key",root=~"$root"';
const RANGE = '[$__rate_interval]';
const QUANTILES = [0.5, 0.95, 0.99];
const MANY = 10;
const YES_OR_NO = flagMappings(['no', 'text'], ['yes', 'blue']);

export function familyPanel({ owner, row, isMany, formatLabels }: ShownFamily): Drawing {
  const { name, type, unit, help } = row.family;
  const pathLabels = owner.paths[0]?.labelNames ?? [];
  const labels = ['root', ...pathLabels, ...ownLabelsOf(row), ...formatLabels];
  const legend = labels.map((label) => `{{${label}}}`).join(' ');
  const few = (expr: string): string => (isMany ? `topk(${MANY}, ${expr})` : expr);
  const facts = (queries: Queries) => ({
    title: titleOf(help, isMany && type !== 'info'),
    description: `${help} (${name})`,
    queries,
  });
  const series = `${name}{${SELECTOR}}`;
  const rate = (suffix = ''): string => `rate(${name}${suffix}{${SELECTOR}}${RANGE})`;

  switch (type) {
    case 'counter':
      return timeSeries(rateUnit(unit), facts({ [legend]: few(rate()) }));
    case 'info':
      return labelTable(['instance', 'job', 'app', 'server_key', 'hint', 'twin'], {
        shown: labels,
        ...facts({ '': series }),
      });
    case 'stateset': {
      const states = row.inputs[0]?.texts ?? OBJECT_STATES;
      const by = ['instance', 'root', ...pathLabels];
      const number = stateNumber({ metric: name, label: name, states, selector: SELECTOR, by });
      return stateTimeline(stateMappings(states), facts({ [legend]: number }));
    }
    case 'histogram': {
      const buckets = `sum by (${['instance', ...labels, 'le'].join(', ')}) (${rate('_bucket')})`;
      const quantile = (q: number) =>
        [`p${q * 100} ${legend}`, few(`histogram_quantile(${q}, ${buckets})`)] as const;
      return timeSeries(levelUnit(unit), facts(Object.fromEntries(QUANTILES.map(quantile))));
    }
    case 'summary':
      return timeSeries(
        levelUnit(unit),
        isPair(row)
          ? facts({ [`average ${legend}`]: few(`${rate('_sum')} / (${rate('_count')} > 0)`) })
          : facts({ [`quantile {{quantile}} ${legend}`]: few(series) }),
      );
    default:
      if (/_timestamp_seconds$|_start_time_seconds$/.test(name))
        return stat('dateTimeFromNow', { ...facts({ [legend]: `${series} * 1000` }), w: 8, h: 7 });
      if (/^1 (when|while) /.test(help))
        return stateTimeline(YES_OR_NO, facts({ [legend]: few(series) }));
      return timeSeries(levelUnit(unit), facts({ [legend]: few(series) }));
  }
}

/** Whether a summary consists of sum and count only, without quantiles. */
const isPair = ({ inputs }: Row): boolean => inputs.length === 2;

/** Phrases of help texts that a title omits, since the panel itself shows them. */
const DRAWN = [
  /^1 (?:when|while) /,
  /, 0 when [^;:.]*/,
  /^Published one-second averages of (?:the )?/,
  /^Unix time of (?:the )?/,
  / since the start(?=\.)/,
];

/** The first clause of a help text, which says what the metric is. */
function titleOf(help: string, isMany: boolean): string {
  const bare = DRAWN.reduce((text, words) => text.replace(words, ''), help);
  const [clause = bare] = bare.split(/[;:.](?= |$)/, 1);
  const title = clause.charAt(0).toUpperCase() + clause.slice(1);
  return isMany ? `${title} (highest ${MANY})` : title;
}
