// The check of a document's values against a rule.
import type { Path, SettingsDocument } from '../document/document.js';
import { Fault } from '../errors.js';
import { Problems } from './problems.js';
import type { Rule } from './rule.js';

/**
 * The values of a document in the shape of `rule`.
 * @param nameOf how messages name the value at a path
 * @throws Fault CONFIG_INVALID with one line for each problem, in the order of the file
 */
export function checked<T>(
  document: SettingsDocument,
  rule: Rule<T>,
  nameOf?: (path: Path) => string,
): T {
  const problems = new Problems(document.places, nameOf);
  const value = problems.read(document, rule);
  problems.throwIfAny();
  if (value === undefined) throw new Fault('CONFIG_INVALID', 'a rule refuses without a reason');
  return value;
}
