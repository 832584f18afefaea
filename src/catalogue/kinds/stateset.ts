// A variable that names one of several states, one series for each state.
import { plainVariable, stateNames } from '../file/row-values.js';
import { rowOf } from '../row.js';
import { TEXTS } from './row-kind.js';
import type { RowKind } from './row-kind.js';
import { stateSeries, takenByStates } from './state-series.js';

export const stateset: RowKind = {
  types: ['stateset'],
  must: ['var', 'states'],
  suits: (_table, type) => type === 'stateset',
  read(table, facts) {
    const { name } = facts.family;
    const states = stateNames(table, 'states');
    return rowOf(facts, {
      reads: [{ variable: plainVariable(table, 'var'), types: TEXTS, texts: states }],
      ownLabels: [],
      isDerived: true,
      linesOf: () => states.length,
      series(stage) {
        const present = stage.text(stage.variable);
        return present === undefined ? [] : stateSeries(name, states, present);
      },
      labelProblem: takenByStates(name),
    });
  },
};
