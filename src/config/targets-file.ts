// Reads the legacy flat target file: one `target key=value …` per line (spec 2.4).
import type { Mark, Path, SettingsDocument } from '../document/document.js';
import { Problems } from '../rules/problems.js';
import { TARGET } from './file-rule.js';
import { SourcePositions, markOf, quoted } from '../document/document.js';
import { Misspelt, wordsOf } from './target-words.js';
import type { Word } from './target-words.js';
import { readText } from '../document/text-file.js';

/** The keys whose values are items between commas. */
const LISTS = new Set(
  Object.values(TARGET)
    .filter(({ rule }) => rule.type.endsWith('array'))
    .map(({ key }) => key),
);

/** The keys whose values are true or false. */
const FLAGS = new Set(
  Object.values(TARGET)
    .filter(({ rule }) => rule.type === 'boolean')
    .map(({ key }) => key),
);

/** Takes the problems of a document. */
export type ProblemsOf = (document: SettingsDocument) => Problems;

/**
 * The raw targets of a legacy file, in the shape of a TOML file with `[[targets]]`. Invalid lines
 * become problems.
 * @throws Fault CONFIG_INVALID when it cannot be read
 */
export const readTargetsFile = (file: string, problemsOf: ProblemsOf): SettingsDocument =>
  parseTargets(file, readText(file), problemsOf);

/**
 * The raw targets of such a text; `file` is its name in messages.
 * @throws Fault CONFIG_INVALID for invalid lines if `problemsOf` is not given
 */
export function parseTargets(
  file: string,
  text: string,
  problemsOf?: ProblemsOf,
): SettingsDocument {
  const marks = new Map<string, Mark>();
  const places = new SourcePositions(file, text, () => marks);
  const note = (path: Path, key: number, value: number) =>
    marks.set(markOf(['targets', ...path]), { key, value });
  const targets: Record<string, unknown>[] = [];
  const document: SettingsDocument = { values: { targets }, places };
  const problems = problemsOf?.(document) ?? new Problems(places);

  let offset = 0;
  for (const line of text.split('\n')) {
    try {
      const words = wordsOf(line.replace(/\r$/, ''), offset);
      if (words.length > 0) targets.push(targetOf(words, targets.length, note));
    } catch (thrown) {
      if (!(thrown instanceof Misspelt)) throw thrown;
      problems.note({ offset: thrown.offset, text: thrown.message });
    }
    offset += line.length + 1;
  }
  if (targets.length === 0 && problems.count === 0)
    problems.note({
      offset: 0,
      text: 'found no target, needed: a line such as target app=ads server_key=82',
    });
  if (problemsOf === undefined) problems.throwIfAny();
  return document;
}

type Note = (path: Path, key: number, value: number) => void;

function targetOf([first, ...pairs]: readonly Word[], index: number, note: Note) {
  if (first?.whole !== 'target')
    throw new Misspelt(
      first?.keyAt ?? 0,
      `found ${quoted(first?.whole ?? '')}, allowed: a line that starts with target`,
    );
  note([index], first.keyAt, first.keyAt);
  const target = new Map<string, unknown>();
  for (const { key, value, keyAt, valueAt } of pairs) {
    if (value === undefined)
      throw new Misspelt(keyAt, `found ${quoted(key)} without "=", allowed: key=value`);
    if (target.has(key)) throw new Misspelt(keyAt, `${key} is set twice in this line`);
    note([index, key], keyAt, valueAt);
    const items = LISTS.has(key) ? itemsOf(value) : [];
    items.forEach((_item, at) => note([index, key, at], valueAt, valueAt));
    const single = FLAGS.has(key) ? flagOf(value) : value;
    target.set(key, LISTS.has(key) ? items : single);
  }
  return Object.fromEntries(target);
}

/** What is neither true nor false stays a text, which the rule of the key refuses. */
const flagOf = (value: string) =>
  value === 'true' || value === 'false' ? value === 'true' : value;

const itemsOf = (value: string) =>
  value === '' ? [] : value.split(',').map((item) => item.trim());
