// The kinds of panels, with the settings that Grafana needs for each.
import type { Drawing, ValueMapping } from './dashboard.js';

interface PanelFacts {
  readonly title: string;
  readonly description: string;
  readonly queries: Drawing['queries'];
  /** Width and height in units of Grafana's grid, which has 24 columns. */
  readonly w?: number;
  readonly h?: number;
}

/** A colour for values from `value` up; null stands for minus infinity. */
type ThresholdStep = readonly [value: number | null, color: string];

const HEIGHT = 7;
const STAT_HEIGHT = 4;

/** A panel of lines over time. @param unit the id of a unit in Grafana */
export const timeSeries = (unit: string, { w = 8, h = HEIGHT, ...facts }: PanelFacts): Drawing => ({
  ...facts,
  type: 'timeseries',
  size: { w, h },
  fieldConfig: {
    defaults: {
      unit,
      custom: {
        drawStyle: 'line',
        lineWidth: 1,
        fillOpacity: 10,
        showPoints: 'never',
        axisSoftMin: 0,
      },
    },
    overrides: [],
  },
  options: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
});

interface StatFacts extends PanelFacts {
  readonly mappings?: readonly ValueMapping[];
  readonly steps?: readonly ThresholdStep[];
}

/** A panel that shows the newest value in large digits. */
export const stat = (
  unit: string,
  { w = 4, h = STAT_HEIGHT, mappings = [], steps = PLAIN, ...facts }: StatFacts,
): Drawing => ({
  ...facts,
  type: 'stat',
  size: { w, h },
  fieldConfig: {
    defaults: { unit, mappings, color: NEUTRAL, thresholds: thresholds(steps) },
    overrides: [],
  },
  options: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: mappings.length === 0 ? 'value' : 'background',
    graphMode: 'none',
    justifyMode: 'auto',
    orientation: 'auto',
    textMode: 'auto',
  },
});

/** A panel of states over time, with one line for each series. */
export const stateTimeline = (
  mappings: readonly ValueMapping[],
  { w = 8, h = HEIGHT, ...facts }: PanelFacts,
): Drawing => ({
  ...facts,
  type: 'state-timeline',
  size: { w, h },
  fieldConfig: {
    defaults: {
      mappings,
      color: NEUTRAL,
      thresholds: thresholds(PLAIN),
      custom: { fillOpacity: 80, lineWidth: 0 },
    },
    overrides: [],
  },
  options: {
    mergeValues: true,
    showValue: 'auto',
    alignValue: 'left',
    rowHeight: 0.9,
    legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
    tooltip: { mode: 'single', sort: 'none' },
  },
});

/** Labels that a Prometheus Operator gives each target. */
const OF_OPERATOR = ['namespace', 'pod', 'container', 'endpoint', 'service', 'node'];

/**
 * A table of the labels of series, except the labels in `hidden` and those that a Prometheus Operator adds.
 * @param facts `shown` lists labels of the metric that the table never hides
 */
export const labelTable = (
  hidden: readonly string[],
  { w = 24, h = 5, shown = [], ...facts }: PanelFacts & { readonly shown?: readonly string[] },
): Drawing => ({
  ...facts,
  type: 'table',
  size: { w, h },
  fieldConfig: { defaults: { custom: { align: 'auto', filterable: true } }, overrides: [] },
  options: { showHeader: true, cellHeight: 'sm' },
  transformations: [
    {
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(
          ['Time', 'Value', '__name__', ...hidden, ...OF_OPERATOR]
            .filter((name) => !shown.includes(name))
            .map((name) => [name, true]),
        ),
        indexByName: {},
        renameByName: {},
      },
    },
  ],
});

const NEUTRAL = { mode: 'thresholds' };
const PLAIN: readonly ThresholdStep[] = [[null, 'blue']];

const thresholds = (steps: readonly ThresholdStep[]) => ({
  mode: 'absolute',
  steps: steps.map(([value, color]) => ({ color, value })),
});

/** Grafana's unit ids for gauges, by the unit of the metric. */
const GAUGE_UNITS: Readonly<Record<string, string>> = {
  bytes: 'bytes',
  seconds: 's',
  ratio: 'percentunit',
};
const RATES: Readonly<Record<string, string>> = {
  bytes: 'Bps',
  packets: 'pps',
  // Seconds per second.
  seconds: 'percentunit',
};

/** Grafana's unit for values of a gauge. */
export const levelUnit = (unit: string): string => GAUGE_UNITS[unit] ?? 'short';

/** Grafana's unit for the rate of a counter. */
export const rateUnit = (unit: string): string => RATES[unit] ?? 'cps';
