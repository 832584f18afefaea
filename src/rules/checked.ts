// The check of a document's values against a rule.
import { invalid, problemAt } from '../document/document.js';
import type { Document, Problem } from '../document/document.js';
import type { Report, Rule } from './rule.js';

/**
 * The values of a document in the shape of `rule`.
 * @throws Fault CONFIG_INVALID with one line a problem, in the order of the file
 */
export function checked<T>({ values, places }: Document, rule: Rule<T>): T {
  const problems: Problem[] = [];
  const report: Report = (path, sentence, mark) => {
    problems.push(problemAt(places, path, sentence, mark));
  };
  const value = rule.read(values, [], report);
  if (value === undefined || problems.length > 0) throw invalid(places, problems);
  return value;
}
