// Surveys a tree for the draft of a catalogue: its classes, with their paths and variables.
import { ROOT } from '../../catalogue/match/patterns.js';
import { labelProblem, metricNamePart } from '../../catalogue/names.js';
import { PointInTime } from '../../exposition/read/time.js';
import type { Declaration, ManagedObject, Variable } from '../../model.js';
import { quotedText } from '../../shown/shown-text.js';
import type { TreeItem, TreeReading } from '../tree/tree-items.js';

/** The limits of a survey: classes, variables per class, and different texts per path segment. */
const MAX_CLASSES = 500;
const MAX_VARIABLES = 1000;
const MAX_TEXTS = 64;

export interface SeenVariable extends Omit<Declaration, 'schema'> {
  /** Whether the first text of the variable is a point in time. */
  readonly isTime: boolean;
}

/** The objects of one class whose paths have the same number of segments. */
export interface SeenClass {
  readonly className: string;
  /** The different texts of each path segment. */
  readonly segments: readonly Set<string>[];
  readonly variables: Map<string, SeenVariable>;
}

export class Survey {
  /** The root of the object that was added last. */
  #root: ManagedObject | undefined;
  readonly #reading: TreeReading;
  readonly #classes = new Map<string, SeenClass>();
  readonly #times = new PointInTime('');
  #omitted = 0;

  constructor(reading: TreeReading) {
    this.#reading = reading;
  }

  get classes(): Iterable<SeenClass> {
    return this.#classes.values();
  }

  /** The number of omitted objects and variables: beyond a limit, or with a name that a catalogue cannot contain. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Adds an item. An object must come before its variables. */
  take(item: TreeItem): void {
    if (item.kind === 'object') this.#root = item.root;
    const isTaken =
      item.kind === 'object' ? this.#takeObject(item.object) : this.#takeVariable(item.variable);
    if (!isTaken) this.#omitted++;
  }

  #takeObject(object: ManagedObject): boolean {
    const path = this.#pathOf(object);
    const seen = path && this.#classOf(object, path);
    for (const [index, text] of path?.entries() ?? []) {
      const texts = seen?.segments[index];
      if (texts !== undefined && texts.size < MAX_TEXTS) texts.add(text);
    }
    return seen !== undefined;
  }

  #takeVariable(variable: Variable): boolean {
    const path = this.#pathOf(variable.object);
    const seen = path && this.#classOf(variable.object, path);
    const { name, type, kind, unit, help } = variable;
    if (seen === undefined || !isNameable(name) || name === '@state') return false;
    if (seen.variables.has(name)) return true;
    if (seen.variables.size >= MAX_VARIABLES) return false;
    const isTime = type === 'string' && this.#isTime(variable);
    seen.variables.set(name, { name, type, kind, unit, help, isTime });
    return true;
  }

  #isTime(variable: Variable): boolean {
    const { text } = this.#reading.texts.ofVariable(variable);
    return !/^\d*$/.test(text.trim()) && this.#times.unixSeconds(text) !== undefined;
  }

  /** The path segments of an object; undefined if it is not below the root. */
  #pathOf({ name }: ManagedObject): readonly string[] | undefined {
    const root = this.#root?.name;
    if (root === undefined) return undefined;
    if (name === root) return [];
    return name.startsWith(`${root}.`) ? name.slice(root.length + 1).split('.') : undefined;
  }

  #classOf({ className }: ManagedObject, path: readonly string[]): SeenClass | undefined {
    if (!isNameable(className)) return undefined;
    const key = `${path.length} ${className}`;
    const known = this.#classes.get(key);
    if (known !== undefined || this.#classes.size >= MAX_CLASSES) return known;
    const seen = { className, segments: path.map(() => new Set<string>()), variables: new Map() };
    this.#classes.set(key, seen);
    return seen;
  }
}

/** Whether a catalogue can contain the name: at most 512 characters, no control characters, no braces. */
const isNameable = (text: string): boolean => /^[^\p{Cc}\p{Cs}{}]{1,512}$/u.test(text);

/**
 * Returns a label that is not taken: the first free text of `wanted`, in snake case and singular, else `label_2`
 * and so on.
 */
export function freeLabel(wanted: readonly string[], taken: readonly string[]): string {
  const isFree = (word: string): boolean =>
    labelProblem(word) === undefined && !taken.includes(word);
  const free = wanted.map((text) => singular(metricNamePart(text))).find(isFree);
  if (free !== undefined) return free;
  let number = 2;
  while (!isFree(`label_${number}`)) number++;
  return `label_${number}`;
}

const singular = (word: string): string =>
  word.length > 3 && /[^ious]s$/.test(word) ? word.slice(0, -1) : word;

interface PathDraft {
  readonly pattern: string;
  readonly labels: readonly string[];
  readonly guesses: readonly string[];
}

const MAX_PATTERN = 1024;
/** The maximum number of example texts in the description of a guess. */
const MAX_NAMED = 3;
/** A text with a number at its end. */
const NUMBERED = /^([A-Za-z_][A-Za-z_-]*)?[0-9]+$/;
/** A text that a pattern can contain literally. */
const LITERAL = /^[^{}@\p{Cc}\p{Cs}]+$/u;

/**
 * Drafts the path pattern of a class from the paths of its objects.
 * @param segments the different texts of each path segment
 * @param alias the alias of the class, a fallback for the name of the last label
 */
export function pathDraft(segments: readonly ReadonlySet<string>[], alias: string): PathDraft {
  const parts: string[] = [];
  const labels: string[] = [];
  const guesses: string[] = [];
  for (const [index, texts] of segments.entries()) {
    const [first = ''] = texts;
    const number = commonNumber(texts);
    if (texts.size === 1 && number === undefined && LITERAL.test(first)) {
      parts.push(first);
      continue;
    }
    const isLast = index === segments.length - 1;
    const above = parts.at(-1) ?? '';
    const wanted = [number?.before ?? '', above, isLast ? alias : '', `part_${index + 1}`];
    const label = freeLabel(wanted, labels);
    labels.push(label);
    parts.push(number === undefined ? `{${label}}` : `{${label}~${number.before}[0-9]+}`);
    guesses.push(`label ${label} for ${listed(texts)}`);
  }
  const pattern = parts.length === 0 ? ROOT : parts.join('.');
  return pattern.length > MAX_PATTERN ? anyPath(segments.length) : { pattern, labels, guesses };
}

/** The fallback for a pattern that would be too long: matches all paths of `length` segments. */
function anyPath(length: number): PathDraft {
  const labels = Array.from({ length }, (_, index) => `part_${index + 1}`);
  const pattern = labels.map((label) => `{${label}}`).join('.');
  return { pattern, labels, guesses: [`any path of ${length} parts`] };
}

/** The prefix that all texts have before a final number; undefined if a text has another prefix or no final number. */
function commonNumber(texts: ReadonlySet<string>): { readonly before: string } | undefined {
  const before = new Set(
    [...texts].map((text) => {
      const found = NUMBERED.exec(text);
      return found === null ? undefined : (found[1] ?? '');
    }),
  );
  const [only] = before;
  return before.size === 1 && only !== undefined ? { before: only } : undefined;
}

function listed(texts: ReadonlySet<string>): string {
  const named = [...texts].slice(0, MAX_NAMED).map(quotedText).join(', ');
  return texts.size > MAX_NAMED ? `${named} and others` : named;
}
