// Labels from the paths of objects, for metrics that are named as their publisher describes them.
import { quoted } from '../../document/document.js';
import { Fault } from '../../errors.js';
import { attempt, refuse } from './filters.js';
import type { FilterReport } from './filters.js';
import { compilePathPattern, segmentsOf } from './patterns.js';
import type { LabelValues, PathPattern } from './patterns.js';

/** The labels of an object at a seed path, without those that series have anyway. */
export type PathLabels = (seedPath: string) => LabelValues;

/** The labels that such series have anyway. */
const TAKEN: readonly string[] = ['object', 'value'];

const NONE: LabelValues = {};

/**
 * Compiles `path_labels`. The first pattern that an object's path fits gives its labels: as many as the
 * path has segments, so objects above and below the end of a pattern have labels as well.
 * @param report called with each pattern that is invalid
 * @throws Fault CONFIG_INVALID at the first of these where there is no `report`
 */
export function compilePathLabels(
  patterns: readonly string[],
  report: FilterReport = refuse,
): PathLabels {
  const compiled = patterns.flatMap((text, index) =>
    attempt(() => labelPattern(text), ['path_labels', index], report),
  );
  if (compiled.length === 0) return () => NONE;
  return (seedPath) => {
    const segments = segmentsOf(seedPath);
    for (const pattern of compiled) {
      const labels = pattern.along(segments);
      if (labels !== undefined) return labels;
    }
    return NONE;
  };
}

function labelPattern(text: string): PathPattern {
  const pattern = compilePathPattern(text);
  if (pattern.labelNames.length === 0)
    throw new Fault(
      'CONFIG_INVALID',
      `${quoted(text)} names no label, allowed: names split by dots, at least one of them a {label}`,
    );
  const taken = pattern.labelNames.find((label) => TAKEN.includes(label));
  if (taken !== undefined)
    throw new Fault(
      'CONFIG_INVALID',
      `${quoted(taken)} is a label that series have anyway, as are ${TAKEN.join(' and ')}`,
    );
  return pattern;
}
