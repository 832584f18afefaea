// The state of the object itself, one series for each state.
import { OBJECT_STATES } from '../../model.js';
import { rowOf } from '../row.js';
import type { RowKind } from './row-kind.js';
import { stateSeries, takenByStates } from './state-series.js';

/** Stands in `var` for the state of the object. */
const STATE = '@state';

export const state: RowKind = {
  types: ['stateset'],
  must: ['var'],
  suits: (table, type) => type === 'stateset' && table.text('var') === STATE,
  read(_table, facts) {
    const { name } = facts.family;
    return rowOf(facts, {
      reads: [],
      ownLabels: [],
      isDerived: true,
      linesOf: () => OBJECT_STATES.length,
      series: () => [],
      ofState: (present) => stateSeries(name, OBJECT_STATES, present),
      labelProblem: takenByStates(name),
    });
  },
};
