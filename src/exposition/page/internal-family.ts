// The text of one internal metric.
import type { FamilyText, InternalMetric } from '../../model.js';
import { ShortFamily } from '../text/family-text.js';
import { labelsText, numberText, seriesText } from '../text/labels.js';

export function internalFamily({
  name,
  type,
  help,
  value,
  labels = {},
}: InternalMetric): FamilyText {
  const line = `${seriesText(name, labelsText(labels))} ${numberText(value)}\n`;
  return new ShortFamily({ name, type, help, unit: '' }, line);
}
