// What a catalogue is drafted from: the classes of a tree, where their objects are, and what variables they have.
import { PointInTime } from '../../exposition/read/point-in-time.js';
import type { Declaration, ManagedObject, Variable } from '../../model.js';
import type { TreeItem } from '../tree/tree-items.js';
import type { TreeReading } from '../tree/tree-reading.js';

/** The most classes, variables of one class and different texts of a path segment that are looked at. */
const MAX_CLASSES = 500;
const MAX_VARIABLES = 1000;
const MAX_TEXTS = 64;

/** A variable that objects of a class have. */
export interface SeenVariable extends Omit<Declaration, 'schema'> {
  /** Whether the first text that was seen is a point in time. */
  readonly isTime: boolean;
}

/** Objects of one class at paths of one length. */
export interface SeenClass {
  readonly className: string;
  /** For each path segment, texts that it has. */
  readonly segments: readonly Set<string>[];
  /** By name. */
  readonly variables: Map<string, SeenVariable>;
}

export class Survey {
  /** The root of the item that was taken last. */
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

  /** Objects and variables that no catalogue can name, or beyond what is looked at. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Takes in an item. An object must come before its variables. */
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

/** Whether a catalogue can have it: in one line, not too long, and without the signs of patterns. */
const isNameable = (text: string): boolean => /^[^\p{Cc}\p{Cs}{}]{1,512}$/u.test(text);
