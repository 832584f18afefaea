// The kinds of panels: what Grafana needs to know of each.
import type { Drawing, ValueMapping } from './dashboard.js';

interface Facts {
  readonly title: string;
  readonly description: string;
  readonly queries: Drawing['queries'];
  /** Width in columns of 24. */
  readonly w?: number;
  readonly h?: number;
}

/** A colour from a value on; the first value is null, which stands for the lowest. */
type ThresholdStep = readonly [value: number | null, color: string];

const HEIGHT = 7;
const STAT_HEIGHT = 4;

/** Lines over time; `unit` is an id of Grafana. */
export const timeSeries = (unit: string, { w = 8, h = HEIGHT, ...facts }: Facts): Drawing => ({
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

interface StatColors {
  readonly mappings?: readonly ValueMapping[];
  readonly steps?: readonly ThresholdStep[];
}

/** The newest value, large. */
export const stat = (
  unit: string,
  { w = 4, h = STAT_HEIGHT, ...facts }: Facts,
  { mappings = [], steps = PLAIN }: StatColors = {},
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

/** States over time, one line a series. */
export const stateTimeline = (
  mappings: readonly ValueMapping[],
  { w = 8, h = HEIGHT, ...facts }: Facts,
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

/** The labels of series as columns, the `hidden` ones left out. */
export const labelTable = (
  hidden: readonly string[],
  { w = 24, h = 5, ...facts }: Facts,
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
          ['Time', 'Value', '__name__', ...hidden].map((name) => [name, true]),
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

// Units of metrics as Grafana names them.
const LEVELS: Readonly<Record<string, string>> = {
  bytes: 'bytes',
  seconds: 's',
  ratio: 'percentunit',
};
const RATES: Readonly<Record<string, string>> = {
  bytes: 'Bps',
  packets: 'pps',
  // Seconds in a second.
  seconds: 'percentunit',
};

/** Of a value as it is. */
export const levelUnit = (unit: string): string => LEVELS[unit] ?? 'short';

/** Of a total's growth in a second. */
export const rateUnit = (unit: string): string => RATES[unit] ?? 'cps';
