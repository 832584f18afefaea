// Reads the legacy flat target file (spec 2.4), and warns about targets that others hide.
import { SourcePositions, markOf, quoted } from '../document/document.js';
import type { Mark, Path, SettingsDocument } from '../document/document.js';
import { readText } from '../document/text-file.js';
import { Problems } from '../rules/problems.js';
import type { Arguments } from './arguments.js';
import { settingName } from './config-problems.js';
import { TARGET } from './file-rule.js';
import type { TargetTable } from './file-rule.js';
import type { Settings } from './settings.js';

/** An error in a line, with its offset in the file. */
class Misspelt extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

/** `target`, or a key with its value, without quotes and escapes. */
interface Word {
  /** As the line spells it. */
  readonly whole: string;
  readonly key: string;
  readonly value: string | undefined;
  readonly keyAt: number;
  readonly valueAt: number;
}

/** A word is a run of characters, or one with = and a value, bare or in quotes. */
const WORD = /([^\s="#]+)(?:=("(?:[^"\\]|\\["\\])*"|[^\s"]*))?(?=\s|$)/y;

/**
 * The words of a line that begins at offset `lineAt` of its file, without its comment.
 * @throws Misspelt at the first invalid word
 */
function wordsOf(line: string, lineAt: number): Word[] {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at++;
    if (at >= line.length || line[at] === '#') return words;
    WORD.lastIndex = at;
    const match = WORD.exec(line);
    if (!match) throw new Misspelt(lineAt + at, misspelling(line.slice(at)));
    const [whole, key = '', value] = match;
    const valueAt = lineAt + at + key.length + 1;
    words.push({ whole, key, value: value && unquoted(value), keyAt: lineAt + at, valueAt });
    at += whole.length;
  }
}

const unquoted = (value: string) =>
  value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;

const misspelling = (rest: string) =>
  `found ${quoted(/^\S*/.exec(rest)?.[0] ?? '')}, allowed: key=value or key="value", with \\" and \\\\ inside quotes`;

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
type ProblemsOf = (document: SettingsDocument) => Problems;

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

/** The index of a target, the index of an earlier one that may show the same root, and why. */
interface Twin {
  readonly index: number;
  readonly earlier: number;
  readonly sentence: string;
}

/** The targets that share server key and application with an earlier one, and may share its root. */
export function twinTargets(targets: readonly TargetTable[]): readonly Twin[] {
  return targets.flatMap((target, index) => {
    const peers = [...targets.slice(0, index).entries()].filter(
      ([, { app, serverKey }]) => app === target.app && serverKey === target.serverKey,
    );
    const same = peers.find(([, { instance }]) => instance === target.instance);
    if (same !== undefined)
      return [{ index, earlier: same[0], sentence: 'no request can tell them apart' }];
    const near = peers.find(([, { instance }]) => mayShareRoot(instance, target.instance));
    if (near === undefined) return [];
    const sentence =
      'they may choose the same root, and then no request can tell them apart; give each an instance of its own';
    return [{ index, earlier: near[0], sentence }];
  });
}

/**
 * Without a hint any root may be chosen; a full root id contains the instance that the other may
 * name.
 */
const mayShareRoot = (one: string, other: string): boolean =>
  one === '' || other === '' || instanceOf(one) === other || instanceOf(other) === one;

const instanceOf = (rootId: string): string | undefined => rootId.split('.').at(-2);

/** The options that select a single target, as they were given; empty when none was. */
function selectorOf({ serverKeys, instance }: Arguments['overrides']): string {
  const given = [
    serverKeys && settingName(['server_keys'], true),
    instance !== undefined && settingName(['instance'], true),
  ];
  return given.filter(Boolean).join(' and ');
}

/** Says that the targets are ignored, and where the application of the single target comes from. */
export function setAside(
  overrides: Arguments['overrides'],
  isInFile: boolean,
  { app }: Settings,
): string {
  const isGiven = overrides.app !== undefined;
  const origin = `${isGiven || isInFile ? '' : 'the default of '}${settingName(['app'], isGiven)}`;
  return `[[targets]] are ignored because of ${selectorOf(overrides)}; the single target has the application ${app}, from ${origin}`;
}

/**
 * The indexes of targets that match the options except for their application, the first of each
 * application. Empty if a target matches the application as well.
 */
export function otherApplications(
  { serverKeys, instance }: Arguments['overrides'],
  targets: readonly TargetTable[],
  { app }: Settings,
): ReadonlyMap<number, string> {
  const meant = [...targets.entries()].filter(
    ([, target]) =>
      (serverKeys === undefined || serverKeys.includes(target.serverKey)) &&
      (instance === undefined || target.instance === instance),
  );
  if (meant.some(([, target]) => target.app === app)) return new Map();
  const isFirst = (index: number, other: string) =>
    meant.find(([, target]) => target.app === other)?.[0] === index;
  return new Map(
    meant.flatMap(([index, target]) => (isFirst(index, target.app) ? [[index, target.app]] : [])),
  );
}
