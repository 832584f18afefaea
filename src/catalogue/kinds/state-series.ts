// The series of a state set: one for each state, with a label named after the metric.
import type { Series } from '../stage.js';

/** 1 for the current state, 0 for the others; OpenMetrics prescribes the label name. */
export const stateSeries = (
  name: string,
  states: readonly string[],
  present: string,
): readonly Series[] =>
  states.map((state) => ({ labels: { [name]: state }, value: Number(state === present) }));

/** The problem with a label whose name the states need themselves. */
export const takenByStates =
  (name: string) =>
  (labels: readonly string[]): string | undefined =>
    labels.includes(name)
      ? 'gives a label with the name of the metric, which the states take'
      : undefined;
