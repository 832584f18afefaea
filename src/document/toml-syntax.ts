// Explains a TOML syntax error in a sentence instead of a list of grammar rules.
import type { Problem } from './document.js';
import { quoted } from './key-path.js';

/** What the parser throws; its own rules have a position, its grammar lists what it expected. */
interface ParserError {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly location?: { readonly start: { readonly offset: number } };
  readonly found?: string | null;
  readonly expected?: readonly { readonly type: string; readonly text?: string }[];
}

/** The problem behind an error of the TOML parser on `text`. */
export function syntaxProblem(text: string, error: ParserError): Problem {
  const { location, expected, line = 1, column = 1 } = error;
  if (!location || !expected)
    return { offset: offsetOf(text, line, column), text: asClause(error.message) };
  const literals = new Set(expected.map((expectation) => expectation.text ?? expectation.type));
  const found = foundAs(error.found ?? null);
  return { offset: location.start.offset, text: `${wanted(literals)}, found ${found}` };
}

/** Maps what the grammar expected to what a person forgot; the first row that fits wins. */
const WANTED: readonly (readonly [literals: readonly string[], sentence: string])[] = [
  [['true', ']'], 'expected a value or "]"'],
  [['true'], 'expected a value (strings stand in quotes)'],
  [['inf'], 'expected a number'],
  [['='], 'expected "=" after the key'],
  [[',', ']'], 'expected "," or "]"'],
  [[',', '}'], 'expected "," or "}"'],
  [['"""'], 'expected the closing """ of the string'],
  [["'''"], "expected the closing ''' of the string"],
  [['"', '\\'], 'expected the closing quote of the string'],
  [['}'], 'expected a key or "}"'],
  [['[', '#'], 'expected a key or a table header'],
  [['"', "'"], 'expected a key'],
  [["'"], 'expected the closing quote of the string'],
  [['#'], 'expected the end of the line'],
  [[']'], 'expected "]" after the table name'],
  [[':'], 'expected a number without leading zeros, a date or a time'],
];

function wanted(literals: ReadonlySet<string>): string {
  const row = WANTED.find(([needed]) => needed.every((literal) => literals.has(literal)));
  return row?.[1] ?? 'expected the rest of a number, date or time';
}

function foundAs(found: string | null): string {
  if (found === null) return 'the end of the file';
  return found === '\n' || found === '\r' ? 'the end of the line' : quoted(found);
}

/** The parser's sentence as the rest of a line: small first letter, no period, bounded. */
function asClause(message: string): string {
  const clause = message.replace(/\.$/, '').slice(0, 200);
  return clause.charAt(0).toLowerCase() + clause.slice(1);
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}
