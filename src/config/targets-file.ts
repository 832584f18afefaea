// Reads the legacy flat target file (spec 2.4), and compares targets for warnings.
import { SourcePositions, markKey, quoted } from '../document/document.js';
import type { Mark, Path, SettingsDocument } from '../document/document.js';
import { readText } from '../document/text-file.js';
import { Problems } from '../rules/problems.js';
import { keyOf } from '../rules/table.js';
import type { Arguments } from './arguments.js';
import { settingName } from './config-problems.js';
import { TARGET } from './file-rule.js';
import type { TargetTable } from './file-rule.js';
import type { Settings } from './settings.js';

class LineError extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

/** A word of a line, without quotes and escapes: `target`, or a key with its value. */
interface Word {
  /** The word as the line spells it, with its quotes and escapes. */
  readonly spelling: string;
  readonly key: string;
  readonly value: string | undefined;
  readonly keyAt: number;
  readonly valueAt: number;
}

/** Matches a word: a key, perhaps with = and a value. The value is bare or in quotes. */
const WORD = /([^\s="#]+)(?:=("(?:[^"\\]|\\["\\])*"|[^\s"]*))?(?=\s|$)/y;

/**
 * Splits a line into words, without its comment.
 * @param lineAt the offset of the line in its file
 * @throws LineError at the first invalid word
 */
function wordsOf(line: string, lineAt: number): Word[] {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at++;
    if (at >= line.length || line[at] === '#') return words;
    WORD.lastIndex = at;
    const match = WORD.exec(line);
    if (!match) throw new LineError(lineAt + at, syntaxSentence(line.slice(at)));
    const [spelling, key = '', value] = match;
    const valueAt = lineAt + at + key.length + 1;
    words.push({ spelling, key, value: value && unquoted(value), keyAt: lineAt + at, valueAt });
    at += spelling.length;
  }
}

const unquoted = (value: string) =>
  value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;

const syntaxSentence = (rest: string) =>
  `found ${quoted(/^\S*/.exec(rest)?.[0] ?? '')}, allowed: key=value or key="value", with \\" and \\\\ inside quotes`;

const TYPES = new Map(Object.entries(TARGET).map(([name, { rule }]) => [keyOf(name), rule.type]));

type ProblemsOf = (document: SettingsDocument) => Problems;

/**
 * Reads the raw targets of a legacy file. The result has the shape of a TOML file with `[[targets]]`. Adds a
 * problem for each invalid line.
 * @throws Fault CONFIG_INVALID if the file cannot be read
 */
export const readTargetsFile = (file: string, problemsOf: ProblemsOf): SettingsDocument =>
  parseTargets(file, readText(file), problemsOf);

/**
 * Reads the raw targets from the text of a legacy file.
 * @param file the name of the file in messages
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
    marks.set(markKey(['targets', ...path]), { key, value });
  const targets: Record<string, unknown>[] = [];
  const document: SettingsDocument = { values: { targets }, places };
  const problems = problemsOf?.(document) ?? new Problems(places);

  let offset = 0;
  for (const line of text.split('\n')) {
    try {
      const words = wordsOf(line.replace(/\r$/, ''), offset);
      if (words.length > 0) targets.push(targetOf(words, targets.length, note));
    } catch (thrown) {
      if (!(thrown instanceof LineError)) throw thrown;
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

/** Quotes a word for a message, unless it is long: a file given by mistake may contain a private key. */
const wordText = (word: string): string =>
  word.length <= 16 ? quoted(word) : `a word of ${word.length} characters`;

type Note = (path: Path, key: number, value: number) => void;

function targetOf([first, ...pairs]: readonly Word[], index: number, note: Note) {
  if (first?.spelling !== 'target')
    throw new LineError(
      first?.keyAt ?? 0,
      `found ${wordText(first?.spelling ?? '')}, allowed: a line that starts with target`,
    );
  note([index], first.keyAt, first.keyAt);
  const target = new Map<string, unknown>();
  for (const { key, value, keyAt, valueAt } of pairs) {
    if (value === undefined)
      throw new LineError(keyAt, `found ${quoted(key)} without "=", allowed: key=value`);
    if (target.has(key)) throw new LineError(keyAt, `${key} is set twice in this line`);
    note([index, key], keyAt, valueAt);
    const type = TYPES.get(key);
    if (type?.endsWith('array') === true) {
      const items = itemsOf(value);
      items.forEach((_item, at) => note([index, key, at], valueAt, valueAt));
      target.set(key, items);
    } else target.set(key, type === 'boolean' ? flagOf(value) : value);
  }
  return Object.fromEntries(target);
}

/** Converts `true` and `false` to a boolean. The rule of the key refuses any other text. */
const flagOf = (value: string) =>
  value === 'true' || value === 'false' ? value === 'true' : value;

const itemsOf = (value: string) =>
  value === '' ? [] : value.split(',').map((item) => item.trim());

/** A target that may select the same root as an earlier target. */
interface Overlap {
  readonly index: number;
  readonly earlier: number;
  readonly sentence: string;
}

/** The keys of a target that a request can select it by. */
export type Selection = Pick<TargetTable, 'app' | 'serverKey' | 'instance'>;

/** Finds targets that have the server key and application of an earlier target, and may select the same root. */
export function overlappingTargets(targets: readonly Selection[]): readonly Overlap[] {
  return targets.flatMap((target, index) => {
    const peers = [...targets.slice(0, index).entries()].filter(
      ([, { app, serverKey }]) => app === target.app && serverKey === target.serverKey,
    );
    const same = peers.find(([, { instance }]) => instance === target.instance);
    if (same !== undefined)
      return [{ index, earlier: same[0], sentence: 'no request can select just one of them' }];
    const near = peers.find(([, { instance }]) => mayShareRoot(instance, target.instance));
    if (near === undefined) return [];
    const sentence =
      'if they choose the same root, no request can select just one of them; give each target its own instance';
    return [{ index, earlier: near[0], sentence }];
  });
}

/**
 * Whether two values of `instance` may select the same root. A value is a root id, the next-to-last part of a root
 * id, or empty.
 */
const mayShareRoot = (one: string, other: string): boolean =>
  one === '' || other === '' || instanceOf(one) === other || instanceOf(other) === one;

const instanceOf = (rootId: string): string | undefined => rootId.split('.').at(-2);

/** The names of the given options that select a single target; empty if there is none. */
export function selectorOf({ serverKeys, instance }: Arguments['overrides']): string {
  const given = [
    serverKeys && settingName(['server_keys'], true),
    instance !== undefined && settingName(['instance'], true),
  ];
  return given.filter(Boolean).join(' and ');
}

/**
 * The warning that the exporter ignores [[targets]]. The warning also says where the application of the single target
 * comes from.
 */
export function ignoredTargets(
  overrides: Arguments['overrides'],
  isInFile: boolean,
  { app }: Settings,
): string {
  const isGiven = overrides.app !== undefined;
  const origin = `${isGiven || isInFile ? '' : 'the default of '}${settingName(['app'], isGiven)}`;
  return `[[targets]] are ignored because of ${selectorOf(overrides)}; the single target has the application ${app}, from ${origin}`;
}

/**
 * Returns the applications of the targets that match all options except `--app`, keyed by the index of the first
 * target with that application. The result is empty if a target also matches `--app`.
 */
export function otherApplications(
  { serverKeys, instance }: Arguments['overrides'],
  targets: readonly TargetTable[],
  { app }: Settings,
): ReadonlyMap<number, string> {
  const matching = [...targets.entries()].filter(
    ([, target]) =>
      (serverKeys === undefined || serverKeys.includes(target.serverKey)) &&
      (instance === undefined || target.instance === instance),
  );
  if (matching.some(([, target]) => target.app === app)) return new Map();
  const isFirst = (index: number, other: string) =>
    matching.find(([, target]) => target.app === other)?.[0] === index;
  return new Map(
    matching.flatMap(([index, target]) =>
      isFirst(index, target.app) ? [[index, target.app]] : [],
    ),
  );
}
