// Sets of states as one number a series, so that one line of a timeline shows each series.
import type { ValueMapping } from './dashboard.js';

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
