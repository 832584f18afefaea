// The series of a state set: one a state, with a label that is called like the metric.
import type { Series } from '../stage.js';

/** 1 for the present state, 0 for the others; OpenMetrics asks for the name of the label. */
export const stateSeries = (
  name: string,
  states: readonly string[],
  present: string,
): readonly Series[] =>
  states.map((state) => ({ labels: { [name]: state }, value: Number(state === present) }));

/** The complaint about a label that the states need for themselves. */
export const takenByStates =
  (name: string) =>
  (labels: readonly string[]): string | undefined =>
    labels.includes(name)
      ? 'gives a label with the name of the metric, which the states take'
      : undefined;
