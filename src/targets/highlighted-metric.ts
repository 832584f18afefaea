// The metric that shows the highlighted variable of a target beside its internal metrics.
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { FamilyFacts, InternalMetric } from '../model.js';

export const HIGHLIGHTED = {
  name: 'shm_exporter_target_highlighted_value',
  type: 'gauge',
  help: 'Value of the highlighted variable; 1 for a text, which is the label value.',
  unit: '',
} as const satisfies FamilyFacts;

/** A gauge with the path as its label; a text is the label `value` of an info metric. */
export const highlightedMetric = ({ path, value, text }: HighlightedValue): InternalMetric => ({
  name: HIGHLIGHTED.name,
  type: HIGHLIGHTED.type,
  help: HIGHLIGHTED.help,
  value,
  labels: { path, value: text ?? '' },
});
