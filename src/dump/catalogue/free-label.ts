// The name of a label that is not taken yet.
import { labelProblem, metricNamePart } from '../../catalogue/names.js';

/** The first of these texts that can be one, in snake case and the singular; else one with a number. */
export function freeLabel(wanted: readonly string[], taken: readonly string[]): string {
  const isFree = (word: string): boolean =>
    labelProblem(word) === undefined && !taken.includes(word);
  const free = wanted.map((text) => singular(metricNamePart(text))).find(isFree);
  if (free !== undefined) return free;
  let number = 2;
  while (!isFree(`label_${number}`)) number++;
  return `label_${number}`;
}

const singular = (word: string): string =>
  word.length > 3 && /[^ious]s$/.test(word) ? word.slice(0, -1) : word;
