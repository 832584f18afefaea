// Reads a YAML file into raw values with their positions.
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Node, Pair, YAMLError } from 'yaml';
import { Fault } from '../errors.js';
import type { Mark, Marks, Path, SettingsDocument } from './document.js';
import { SourcePositions, markKey } from './document.js';
import { readText } from './text-file.js';

/** Parser options. Integers become bigint, as in TOML, and keys become texts. Warnings are off: they quote the file. */
const OPTIONS = {
  intAsBigInt: true,
  version: '1.2',
  uniqueKeys: true,
  stringKeys: true,
  logLevel: 'error',
} as const;

/** Replaces sentences of the library that quote the file, since a file may hold secrets, and messages reach logs. */
const SENTENCES: Partial<Record<YAMLError['code'], string>> = {
  BAD_COLLECTION_TYPE: 'this tag does not fit its value',
  BAD_DIRECTIVE: 'unknown directive',
  BAD_DQ_ESCAPE: 'invalid escape sequence',
  BAD_INDENT:
    'wrong indentation, or a bracket that is not closed; allowed: the same indentation for all keys of a table',
  BLOCK_AS_IMPLICIT_KEY:
    'wrong indentation, or a second ":" in the line; allowed: the same indentation for all keys of a table, and quotes around a value with ": "',
  BAD_SCALAR_START: 'a value that starts with this character must be in quotes',
  MULTILINE_IMPLICIT_KEY:
    'a key without a value: found no ": " in this line, or wrong indentation in the next; allowed: KEY: VALUE',
  MULTIPLE_DOCS: 'a second document begins here, allowed: one document',
  NON_STRING_KEY: 'a key must be a string',
  TAB_AS_INDENT: 'found a tab, allowed: indentation by spaces',
  TAG_RESOLVE_FAILED: 'unknown tag',
  UNEXPECTED_TOKEN:
    'unexpected text, or wrong indentation; allowed: the same indentation for all keys of a table',
};

/**
 * Reads the raw values of a YAML file; an empty file has none.
 * @throws Fault CONFIG_INVALID if the file cannot be read or is not YAML. A syntax error has line and column, but no
 *   text of the file.
 */
export const readYaml = (file: string): SettingsDocument => parseYaml(file, readText(file));

/** Reads the raw values of YAML text. @param file the name of the file in messages */
export function parseYaml(file: string, text: string): SettingsDocument {
  const document = parseDocument(text, OPTIONS);
  const places = new SourcePositions(file, text, () => marksOf(document.contents));
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) throw refused(places, error.pos[0], sentenceOf(error));
  try {
    const values: unknown = document.toJS({ maxAliasCount: 0, reviver: withoutNull });
    return { values: (values ?? {}) as SettingsDocument['values'], places };
  } catch (thrown) {
    if (!(thrown instanceof ReferenceError)) throw thrown;
    throw refused(places, 0, 'aliases are not allowed');
  }
}

const refused = (places: SourcePositions, offset: number, sentence: string): Fault =>
  new Fault('CONFIG_INVALID', `${places.at(offset)}: ${sentence}`);

/** The sentence of an error without the position and excerpt that the library adds. */
function sentenceOf({ code, message }: YAMLError): string {
  const [sentence = ''] = message.split(/ at line \d+/);
  return SENTENCES[code] ?? sentence;
}

const withoutNull = (_key: unknown, value: unknown): unknown => value ?? undefined;

/** The positions of all keys and items below a node. */
function marksOf(root: Node | null): Marks {
  const marks = new Map<string, Mark>();
  const visit = (node: unknown, path: Path) => {
    if (isMap(node)) for (const pair of node.items) visitPair(pair, path);
    if (isSeq(node))
      node.items.forEach((item, index) => {
        const at = startOf(item) ?? 0;
        marks.set(markKey([...path, index]), { key: at, value: at });
        visit(item, [...path, index]);
      });
  };
  const visitPair = ({ key, value }: Pair, path: Path) => {
    const at = [...path, String(isScalar(key) ? key.value : '')];
    const offset = startOf(key) ?? 0;
    marks.set(markKey(at), { key: offset, value: startOf(value) ?? offset });
    visit(value, at);
  };
  visit(root, []);
  return marks;
}

const startOf = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];
