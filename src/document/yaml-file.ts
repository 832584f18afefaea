// Reads a YAML file into raw values with their positions.
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Node, Pair } from 'yaml';
import { Fault } from '../errors.js';
import type { Document } from './document.js';
import type { Path } from './key-path.js';
import { Places, markOf } from './places.js';
import type { Mark, Marks } from './places.js';
import { readText } from './text-file.js';

/** Integers as bigint, as in TOML; no aliases, by which a short text could stand for a huge one. */
const OPTIONS = { intAsBigInt: true, version: '1.2', uniqueKeys: true } as const;

/**
 * The raw values of a YAML file; none for an empty one.
 * @throws Fault CONFIG_INVALID when it cannot be read, or is not YAML: then with the line and a caret
 */
export const readYaml = (file: string): Document => parseYaml(file, readText(file));

/** The raw values of YAML text; `file` is its name in messages. */
export function parseYaml(file: string, text: string): Document {
  const document = parseDocument(text, OPTIONS);
  const places = new Places(file, text, () => marksOf(document.contents));
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) throw refused(places, error.pos[0], error.message);
  try {
    const values: unknown = document.toJS({ maxAliasCount: 0, reviver: withoutNull });
    return { values: (values ?? {}) as Document['values'], places };
  } catch (thrown) {
    if (!(thrown instanceof ReferenceError)) throw thrown;
    throw refused(places, 0, 'aliases are not allowed');
  }
}

function refused(places: Places, offset: number, message: string): Fault {
  // The library adds a place of its own.
  const [sentence = ''] = message.split(/ at line \d+/);
  const text = `${places.at(offset)}: ${sentence}\n${places.excerpt(offset)}`;
  return new Fault('CONFIG_INVALID', text);
}

/** A key without a value is as if it was not there. */
const withoutNull = (_key: unknown, value: unknown): unknown => value ?? undefined;

/** The marks of all keys and items below a node. */
function marksOf(root: Node | null): Marks {
  const marks = new Map<string, Mark>();
  const visit = (node: unknown, path: Path) => {
    if (isMap(node)) for (const pair of node.items) visitPair(pair, path);
    if (isSeq(node))
      node.items.forEach((item, index) => {
        const at = startOf(item) ?? 0;
        marks.set(markOf([...path, index]), { key: at, value: at });
        visit(item, [...path, index]);
      });
  };
  const visitPair = ({ key, value }: Pair, path: Path) => {
    const at = [...path, String(isScalar(key) ? key.value : '')];
    const offset = startOf(key) ?? 0;
    marks.set(markOf(at), { key: offset, value: startOf(value) ?? offset });
    visit(value, at);
  };
  visit(root, []);
  return marks;
}

const startOf = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];
