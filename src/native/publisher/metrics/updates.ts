// The arguments of updates that metrics have in common: durations, and objects with exemplars.
import { isObject } from './children.js';
import type { GivenValues, LabelValues } from './children.js';

/** The labels of an update that states none. */
export const NO_LABELS: GivenValues = {};

export type ExemplarLabels = Readonly<Partial<Record<string, string | number>>>;

/** An update of a metric with `enableExemplars`. */
export interface UpdateWithExemplar<T extends string> {
  readonly labels?: LabelValues<T>;
  readonly value?: number;
  readonly exemplarLabels?: ExemplarLabels;
}

/** Casts an argument to a number. The child checks the value when it gets it. */
export const numberIn = (argument: unknown): number | undefined =>
  (argument ?? undefined) as number | undefined;

/** The labels and the value of an `UpdateWithExemplar`. Segments have no exemplars. */
export function updateOf({ labels, value }: GivenValues) {
  return { labels: isObject(labels) ? labels : NO_LABELS, value: numberIn(value) };
}

/** Ends a timer: passes the duration to the metric, with these labels in addition, and returns it in seconds. */
export type EndTimer<T extends string> = (
  labels?: LabelValues<T>,
  exemplarLabels?: ExemplarLabels,
) => number;

/** Starts a timer. `observe` gets the labels of the start and of the end, and the seconds between. */
export function timer<T extends string>(
  start: GivenValues,
  observe: (labels: GivenValues, seconds: number) => void,
): EndTimer<T> {
  const startMs = performance.now();
  return (end = {}) => {
    const seconds = (performance.now() - startMs) / 1000;
    observe({ ...start, ...end }, seconds);
    return seconds;
  };
}
