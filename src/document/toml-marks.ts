// Walks the syntax tree of a TOML file and notes the position of every key and value.
import parser from 'toml/lib/parser.js';
import type { EntryNode, ValueNode } from 'toml/lib/parser.js';
import type { Path } from './key-path.js';
import { markOf } from './places.js';
import type { Mark, Marks } from './places.js';

/**
 * `classes[1].metrics[2].static.label` is the deepest path of any rule; bounds hostile key chains.
 */
const DEEPEST = 6;

/** The marks of a text that `toml` has parsed before without an error. */
export function tomlMarks(text: string, maxDepth: number): Marks {
  const marks = new Map<string, Mark>();
  const lengths = new Map<string, number>();

  const note = (path: Path, key: number, value: number) => {
    const at = markOf(path);
    if (path.length <= DEEPEST && !marks.has(at)) marks.set(at, { key, value });
  };

  /** The path that `keys` leads to, starting at `from`; notes each step at `offset`. */
  const descend = (from: Path, keys: readonly string[], offset: number): Path => {
    let path = from;
    for (const key of keys) {
      if (path.length >= DEEPEST) return path;
      path = [...path, key];
      note(path, offset, offset);
      const length = lengths.get(markOf(path));
      if (length !== undefined) path = [...path, length - 1];
    }
    return path;
  };

  const visit = (node: ValueNode, path: Path) => {
    if (path.length >= DEEPEST) return;
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
    if (last === undefined || keys.length > DEEPEST) return;
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
      const length = lengths.get(markOf(array)) ?? 0;
      lengths.set(markOf(array), length + 1);
      note(array, node.offset, node.offset);
      context = [...array, length];
      note(context, node.offset, node.offset);
    } else if (node.type === 'Assign') assign(context, node);
  }
  return marks;
}
