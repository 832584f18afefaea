// The labels that a format states for an object, beside those that its rows give.
import type { LabelValues } from '../../catalogue/match/patterns.js';
import { ownLabelsOf } from '../../catalogue/row.js';
import type { Row } from '../../catalogue/row.js';

/** Labels from the path of an object, with the stated ones behind them that no row gives by itself. */
export function withStated(
  path: LabelValues,
  stated: LabelValues | undefined,
  rows: readonly Row[] = [],
): LabelValues {
  if (stated === undefined) return path;
  const own = new Set([...Object.keys(path), ...rows.flatMap(ownLabelsOf)]);
  const rest = Object.entries(stated).filter(([label]) => !own.has(label));
  return { ...path, ...Object.fromEntries(rest) };
}
