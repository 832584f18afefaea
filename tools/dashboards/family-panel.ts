// The panel of one metric of a catalogue: its type decides how it is drawn.
import type { CatalogueClass } from '#app/catalogue/catalogue-class.js';
import { ownLabelsOf } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';
import { OBJECT_STATES } from '#app/model.js';
import type { Drawing, ValueMapping } from './dashboard.js';
import { labelTable, levelUnit, rateUnit, stat, stateTimeline, timeSeries } from './drawings.js';

// Sets of states as one number a series, so that one line of a timeline shows each series.
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
  /** The rest of the selector, such as `job="a"`. */
  readonly selector: string;
  readonly by: readonly string[];
}

/** The number of the present state from 1; 0 where there is none. */
export function stateNumber({ metric, label, states, selector, by }: StateSet): string {
  const each = states.map((state, at) => `${metric}{${selector},${label}="${state}"} * ${at + 1}`);
  return `sum by (${by.join(', ')}) (${each.join(' or ')})`;
}

/** What these numbers stand for. */
export const stateMappings = (states: readonly string[]): readonly ValueMapping[] => [
  mapping(['none', ...states].map((state) => [state, COLORS[state] ?? 'text'])),
];

/** 0 and 1, in words. */
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
  /** Its first row. */
  readonly row: Row;
  /** True where there may be so many series that only the ten highest are shown. */
  readonly isMany: boolean;
  /** Labels that the format states for its objects. */
  readonly stated: readonly string[];
}

/** Chosen at the top of the dashboard. */
export const SELECTOR = 'job=~"$job",server_key=~"$server_key",root=~"$root"';
const RANGE = '[$__rate_interval]';
const QUANTILES = [0.5, 0.95, 0.99];
const MANY = 10;
const YES_OR_NO = flagMappings(['no', 'text'], ['yes', 'blue']);

export function familyPanel({ owner, row, isMany, stated }: ShownFamily): Drawing {
  const { name, type, unit, help } = row.family;
  const pathLabels = owner.paths[0]?.labelNames ?? [];
  const labels = ['root', ...pathLabels, ...ownLabelsOf(row), ...stated];
  const legend = labels.map((label) => `{{${label}}}`).join(' ');
  const few = (expr: string): string => (isMany ? `topk(${MANY}, ${expr})` : expr);
  const facts = (...queries: readonly (readonly [expr: string, legend: string])[]) => ({
    title: titleOf(help, isMany && type !== 'info'),
    description: `${help} (${name})`,
    queries: queries.map(([expr, text]) => ({ expr, legend: text })),
  });
  const series = `${name}{${SELECTOR}}`;
  const rate = (suffix = ''): string => `rate(${name}${suffix}{${SELECTOR}}${RANGE})`;

  switch (type) {
    case 'counter':
      return timeSeries(rateUnit(unit), facts([few(rate()), legend]));
    case 'info':
      return labelTable(
        ['instance', 'job', 'app', 'server_key', 'hint', 'twin'],
        facts([series, '']),
      );
    case 'stateset': {
      const states = row.reads[0]?.texts ?? OBJECT_STATES;
      const by = ['instance', 'root', ...pathLabels];
      const number = stateNumber({ metric: name, label: name, states, selector: SELECTOR, by });
      return stateTimeline(stateMappings(states), facts([number, legend]));
    }
    case 'histogram': {
      const buckets = `sum by (${['instance', ...labels, 'le'].join(', ')}) (${rate('_bucket')})`;
      const quantile = (q: number): readonly [string, string] => [
        few(`histogram_quantile(${q}, ${buckets})`),
        `p${q * 100} ${legend}`,
      ];
      return timeSeries(levelUnit(unit), facts(...QUANTILES.map(quantile)));
    }
    case 'summary':
      return timeSeries(
        levelUnit(unit),
        isPair(row)
          ? facts([few(`${rate('_sum')} / (${rate('_count')} > 0)`), `average ${legend}`])
          : facts([few(series), `quantile {{quantile}} ${legend}`]),
      );
    default:
      if (/_timestamp_seconds$|_start_time_seconds$/.test(name))
        return stat('dateTimeFromNow', { ...facts([`${series} * 1000`, legend]), w: 8, h: 7 });
      if (/^1 (when|while) /.test(help))
        return stateTimeline(YES_OR_NO, facts([few(series), legend]));
      return timeSeries(levelUnit(unit), facts([few(series), legend]));
  }
}

/** A summary of a sum and a count has no quantiles. */
const isPair = ({ reads }: Row): boolean => reads.length === 2;

/** Words of a help that the drawing makes superfluous. */
const DRAWN = [
  /^1 (?:when|while) /,
  /, 0 when [^;:.]*/,
  /^Distribution of the process's own one-second averages of /,
  /, one observation a published value/,
  /, one series a \w+/,
  / as a Unix timestamp/,
  / since start(?=\.)/,
];

/** The beginning of the help: what the metric is, without the advice behind it. */
function titleOf(help: string, isMany: boolean): string {
  const bare = DRAWN.reduce((text, words) => text.replace(words, ''), help);
  const [clause = bare] = bare.split(/[;:.](?= |$)/, 1);
  const title = clause.charAt(0).toUpperCase() + clause.slice(1);
  return isMany ? `${title} (highest ${MANY})` : title;
}
