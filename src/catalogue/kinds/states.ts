// Rows that show the state of an object or variable, as one series per state or as a number.
import { OBJECT_STATES } from '../../model.js';
import { plainVariable, stateNames } from '../file/table.js';
import { rowOf } from '../row.js';
import type { Series } from '../row.js';
import { TEXTS, VAR } from './row-kind.js';
import type { RowKind } from './row-kind.js';

/**
 * One series per state. The value is 1 for the present state, and 0 for all others. OpenMetrics prescribes the label
 * name.
 */
const stateSeries = (name: string, states: readonly string[], present: string): readonly Series[] =>
  states.map((state) => ({ labels: { [name]: state }, value: Number(state === present) }));

/** Rejects a label with the name of the metric, since OpenMetrics reserves this name for the label of the states. */
const takenByStates =
  (name: string) =>
  (labels: readonly string[]): string | undefined =>
    labels.includes(name)
      ? 'gives a label the name of the metric; only the label of the states may have this name'
      : undefined;

/** The value of the key `var` in a row that shows the state of the object. */
const STATE = '@state';

export const state: RowKind = {
  types: ['stateset'],
  must: VAR,
  matches: (table, type) => type === 'stateset' && table.text('var') === STATE,
  read(_table, fields) {
    const { name } = fields.family;
    return rowOf(fields, {
      inputs: [],
      isComputed: true,
      linesOf: () => OBJECT_STATES.length,
      series: () => [],
      ofState: (present) => stateSeries(name, OBJECT_STATES, present),
      labelProblem: takenByStates(name),
    });
  },
};

// A variable whose value is the name of a state, as one series for each possible state.
export const stateset: RowKind = {
  types: ['stateset'],
  must: { ...VAR, states: 'an array of state names' },
  matches: (_table, type) => type === 'stateset',
  read(table, fields) {
    const { name } = fields.family;
    const states = stateNames(table, 'states');
    return rowOf(fields, {
      inputs: [{ variable: plainVariable(table, 'var'), types: TEXTS, texts: states }],
      isComputed: true,
      linesOf: () => states.length,
      series(context) {
        const present = context.text(context.variable);
        return present === undefined ? [] : stateSeries(name, states, present);
      },
      labelProblem: takenByStates(name),
    });
  },
};
