// Labels from server keys: the setting `labels_from` of `[discover]`, such as `shop-{store}`.
import { quoted } from '../document/document.js';
import { judged } from '../rules/rule.js';
import type { Rule } from '../rules/rule.js';

/** Labels of targets, of the scraper, and of histograms and summaries. */
const RESERVED = [
  ...['app', 'server_key', 'root', 'hint', 'twin', 'format'],
  ...['instance', 'job', 'le', 'quantile'],
];
const MAX_LABELS = 8;
const LABEL = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** A pattern of a server key as its parts: literals at even indices, label names at odd ones. */
const partsOf = (pattern: string): readonly string[] => pattern.split(/\{([^{}]*)\}/);
const isLabel = (_part: string, index: number): boolean => index % 2 === 1;
const isLiteral = (_part: string, index: number): boolean => index % 2 === 0;

/** The names of the labels of a pattern, in its order. */
export const keyLabelNames = (pattern: string): readonly string[] =>
  partsOf(pattern).filter(isLabel);

/** The fault of a pattern; undefined if it has none. */
function patternFault(pattern: string): string | undefined {
  if (pattern === '') return undefined;
  const names = keyLabelNames(pattern);
  const literals = partsOf(pattern).filter(isLiteral);
  const wrong = names.find((name) => !LABEL.test(name));
  const reserved = names.find((name) => RESERVED.includes(name));
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (!/^[A-Za-z0-9_.{}-]{1,512}$/.test(pattern) || literals.some((part) => /[{}]/.test(part)))
    return quoted(pattern);
  if (names.length === 0) return `${quoted(pattern)} without a label`;
  if (names.length > MAX_LABELS) return `${names.length} labels`;
  if (wrong !== undefined) return `the label ${quoted(wrong)}`;
  if (reserved !== undefined)
    return `the label ${quoted(reserved)}, which is reserved, as are ${RESERVED.join(', ')}`;
  if (repeated !== undefined) return `the label ${quoted(repeated)} twice`;
  return literals.slice(1, -1).includes('')
    ? `two labels without a text between them in ${quoted(pattern)}`
    : undefined;
}

export const keyPattern: Rule<string> = judged(
  `a server key with 1 to ${MAX_LABELS} different labels in braces, such as "shop-{store}"; or ""`,
  patternFault,
);

/**
 * Compiles a pattern to a function that returns the labels of a server key; none if the key does not match. Each label
 * gets at least one character, and all but the last one as few as possible.
 */
export function compileKeyLabels(
  pattern: string,
): (serverKey: string) => Readonly<Record<string, string>> {
  const [start = '', ...parts] = partsOf(pattern);
  return (serverKey) => {
    const labels: [string, string][] = [];
    if (!serverKey.startsWith(start)) return {};
    let at = start.length;
    for (let index = 0; index < parts.length; index += 2) {
      const [name = '', literal = ''] = parts.slice(index);
      const isLast = index + 2 >= parts.length;
      const end = isLast ? serverKey.length - literal.length : serverKey.indexOf(literal, at + 1);
      if (end <= at || !serverKey.startsWith(literal, end)) return {};
      labels.push([name, serverKey.slice(at, end)]);
      at = end + literal.length;
    }
    return Object.fromEntries(labels);
  };
}
