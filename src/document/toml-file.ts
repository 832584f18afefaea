// Reads a TOML file into raw values with their positions, and explains its syntax errors.
import { parse } from 'toml';
import parser from 'toml/lib/parser.js';
import type { EntryNode, ValueNode } from 'toml/lib/parser.js';
import { Fault } from '../errors.js';
import { SourcePositions, TomlDate, markKey, quoted } from './document.js';
import type { Mark, Marks, Path, Problem, SettingsDocument } from './document.js';
import { readText } from './text-file.js';

/**
 * The depth of `classes[1].metrics[2].static.label`, the deepest path of any rule. Longer paths, as in a hostile
 * file, get no positions.
 */
const MAX_PATH = 6;

/** The positions of all keys and values in a valid TOML text. */
function tomlMarks(text: string, maxDepth: number): Marks {
  const marks = new Map<string, Mark>();
  const lengths = new Map<string, number>();

  const note = (path: Path, key: number, value: number) => {
    const at = markKey(path);
    if (path.length <= MAX_PATH && !marks.has(at)) marks.set(at, { key, value });
  };

  /** Returns the path of dotted `keys` below `from`. Records `offset` as the position of each table on the path. */
  const descend = (from: Path, keys: readonly string[], offset: number): Path => {
    let path = from;
    for (const key of keys) {
      if (path.length >= MAX_PATH) return path;
      path = [...path, key];
      note(path, offset, offset);
      const length = lengths.get(markKey(path));
      if (length !== undefined) path = [...path, length - 1];
    }
    return path;
  };

  const visit = (node: ValueNode, path: Path) => {
    if (path.length >= MAX_PATH) return;
    if (node.type === 'Array')
      node.value.forEach((item, index) => {
        note([...path, index], item.offset, item.offset);
        visit(item, [...path, index]);
      });
    else if (node.type === 'InlineTable') for (const entry of node.value) assign(path, entry);
  };

  const assign = (table: Path, { key, value, offset }: EntryNode) => {
    const keys = typeof key === 'string' ? [key] : key;
    const last = keys.at(-1);
    const parent = descend(table, keys.slice(0, -1), offset);
    if (last === undefined || keys.length > MAX_PATH) return;
    const path = [...parent, last];
    note(path, offset, value.offset);
    visit(value, path);
  };

  let context: Path = [];
  for (const node of parser.parse(text, { maxDepth })) {
    if (node.type === 'ObjectPath') context = descend([], node.value, node.offset);
    else if (node.type === 'ArrayPath') {
      const parent = descend([], node.value.slice(0, -1), node.offset);
      const array = [...parent, node.value.at(-1) ?? ''];
      const length = lengths.get(markKey(array)) ?? 0;
      lengths.set(markKey(array), length + 1);
      note(array, node.offset, node.offset);
      context = [...array, length];
      note(context, node.offset, node.offset);
    } else if (node.type === 'Assign') assign(context, node);
  }
  return marks;
}

/** A parser error. A grammar error has `location` and `expected`; other errors have `line` and `column`. */
interface ParserError {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly location?: { readonly start: { readonly offset: number } };
  readonly found?: string | null;
  readonly expected?: readonly { readonly type: string; readonly text?: string }[];
}

function syntaxProblem(text: string, error: ParserError): Problem {
  const { location, expected, line = 1, column = 1 } = error;
  const carriageReturn = loneCarriageReturn(text, location?.start.offset);
  if (carriageReturn !== undefined)
    return {
      offset: carriageReturn,
      text: 'found a carriage return without a line feed, needed: lines that end with "\\n" or "\\r\\n"',
    };
  if (!location || !expected)
    return { offset: offsetOf(text, line, column), text: asClause(error.message) };
  const literals = new Set(expected.map((token) => token.text ?? token.type));
  const found = foundAs(error.found ?? null);
  return { offset: location.start.offset, text: `${expectation(literals)}, found ${found}` };
}

/** The offset of a carriage return without a line feed, at the offset of an error or just before it. */
function loneCarriageReturn(text: string, errorAt = -1): number | undefined {
  return [errorAt, errorAt - 1].find((at) => text[at] === '\r' && text[at + 1] !== '\n');
}

/**
 * Sentences for grammar errors. A row applies if the parser expects all literals of the row. The first row that
 * applies wins.
 */
const EXPECTATIONS: readonly (readonly [literals: readonly string[], sentence: string])[] = [
  [['true', ']'], 'expected a value or "]"'],
  [['true'], 'expected a value (strings need quotes)'],
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

function expectation(literals: ReadonlySet<string>): string {
  const row = EXPECTATIONS.find(([needed]) => needed.every((literal) => literals.has(literal)));
  return row?.[1] ?? 'expected the rest of a number, date or time';
}

function foundAs(found: string | null): string {
  if (found === null) return 'the end of the file';
  return found === '\n' || found === '\r' ? 'the end of the line' : quoted(found);
}

/** A sentence of the parser as a clause: small first letter, no period, bounded length. */
function asClause(message: string): string {
  const clause = message.replace(/\.$/, '').slice(0, 200);
  return clause.charAt(0).toLowerCase() + clause.slice(1);
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

/** The maximum nesting: far deeper than any configuration, far below the stack limit. */
const MAX_NESTING = 64;

const dates = { from: (text: string) => new TomlDate(text) };

/** Parser options: integers become bigint, so 9464.0 is not an integer; dates become a type that no rule allows. */
const OPTIONS = {
  bigint: true,
  maxDepth: MAX_NESTING,
  useTemporal: true,
  temporal: {
    ZonedDateTime: dates,
    PlainDateTime: dates,
    PlainDate: dates,
    PlainTime: dates,
  },
};

/**
 * Reads the raw values of a TOML file.
 * @param hasSecrets whether messages must not quote the file
 * @throws Fault CONFIG_INVALID if the file cannot be read or is not TOML. A syntax error quotes the line, unless the
 *   file has secrets or the line looks like YAML or JSON.
 */
export function readToml(file: string, hasSecrets = false): SettingsDocument {
  return parseToml(file, readText(file), hasSecrets);
}

/** Reads the raw values of TOML text. @param file the name of the file in messages */
export function parseToml(file: string, text: string, hasSecrets = false): SettingsDocument {
  try {
    return documentOf(file, text, parse(text, OPTIONS) as SettingsDocument['values']);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const { places } = documentOf(file, text, {});
    const { offset, text: sentence } = syntaxProblem(text, cause);
    const line = places.line(offset);
    const message = OTHER_FORMAT.test(line)
      ? `${places.at(offset)}: ${otherKey(line)}${sentence}; this looks like YAML or JSON, needed: TOML`
      : `${places.at(offset)}: ${sentence}${hasSecrets ? '' : `\n${places.excerpt(offset)}`}`;
    throw new Fault('CONFIG_INVALID', message, { cause });
  }
}

/**
 * Matches a line of YAML or JSON. Messages do not quote such a line: it may hold a password or a hash of a web
 * configuration.
 */
const OTHER_FORMAT = /^[^=]*:|^\s*[{-]/;

/** The first key of a line of YAML or JSON, with a colon; empty if the line has none. */
function otherKey(line: string): string {
  const [, key] = /^[\s{-]*["']?([\w.-]{1,60})["']?\s*:/.exec(line) ?? [];
  return key === undefined ? '' : `${key}: `;
}

const documentOf = (
  file: string,
  text: string,
  values: SettingsDocument['values'],
): SettingsDocument => ({
  values,
  places: new SourcePositions(file, text, () => tomlMarks(text, MAX_NESTING)),
});
