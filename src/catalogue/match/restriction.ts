// The small regular expressions that restrict a label in a pattern; none can be slow.
import { Fault } from '../../errors.js';

/** Letters, digits, _ and -, bracketed classes of them, each followed by at most one of + * ?. */
const GRAMMAR = /^(?:(?:[\w-]|\[\^?[\w-]+\])[+*?]?)+$/;
const MAX_QUANTIFIERS = 2;
/** With two quantifiers, matching is quadratic in the length, so the length is bounded. */
const LONGEST_TEXT = 256;

/**
 * Compiles an expression that must match a whole text; texts over 256 characters never match.
 * @throws Fault CONFIG_INVALID for any other expression
 */
export function compileRestriction(source: string): (text: string) => boolean {
  const quantifiers = source.match(/[+*?]/g)?.length ?? 0;
  if (!GRAMMAR.test(source) || quantifiers > MAX_QUANTIFIERS)
    throw new Fault(
      'CONFIG_INVALID',
      `${JSON.stringify(source)} is not an expression that a label may have, allowed: letters, ` +
        `digits, _, - and classes such as [0-9], with at most ${MAX_QUANTIFIERS} of + * ?`,
    );
  const shape = expression(source);
  return (text) => text.length <= LONGEST_TEXT && shape.test(text);
}

function expression(source: string): RegExp {
  try {
    return new RegExp(`^(?:${source})$`);
  } catch (thrown) {
    throw new Fault('CONFIG_INVALID', `${JSON.stringify(source)} holds a class out of order`, {
      cause: thrown,
    });
  }
}
