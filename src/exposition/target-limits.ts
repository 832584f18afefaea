// Limits of one target. Objects, variables and series beyond the limits are left out, counted, and named in the log.
import type { Counters } from './counters.js';
import type { TrackedNodes } from './read/tracked-nodes.js';
import type { ExpositionText } from './text/exposition-text.js';

export interface TargetLimits {
  readonly objects: number;
  readonly variables: number;
  readonly series: number;
  /** Bytes of names and labels, and of the texts, histograms and summaries that rows read. */
  readonly textBytes: number;
}

export const DEFAULT_LIMITS: TargetLimits = {
  objects: 1_000_000,
  variables: 2_000_000,
  series: 2_000_000,
  textBytes: 2 ** 29,
};

interface LimitSettings {
  readonly targetMaxObjects: number;
  readonly targetMaxVariables: number;
  readonly targetMaxSeries: number;
  readonly targetMaxTextBytes: number;
}

export const limitsOf = (settings: LimitSettings): TargetLimits => ({
  objects: settings.targetMaxObjects,
  variables: settings.targetMaxVariables,
  series: settings.targetMaxSeries,
  textBytes: settings.targetMaxTextBytes,
});

/** Called with each object, variable or series that a limit leaves out, such as `object h.1.shop.a`. */
export type OnOmitted = (limit: keyof TargetLimits, what: string) => void;

/** The setting that defines each limit. */
const SETTINGS: Readonly<Record<keyof TargetLimits, string>> = {
  objects: 'target_max_objects',
  variables: 'target_max_variables',
  series: 'target_max_series',
  textBytes: 'target_max_text_bytes',
};

/** A limit as its setting and value, such as `target_max_series is 1000`. */
export const limitText = (limits: TargetLimits, limit: keyof TargetLimits): string =>
  `${SETTINGS[limit]} is ${limits[limit]}`;

/** The size of a target, and its limits. */
export class TargetUsage {
  readonly limits: TargetLimits;
  /** The number of tracked objects. */
  objects = 0;
  /** Bytes of the texts, histograms and summaries that rows read. */
  frameBytes = 0;
  readonly #text: Pick<ExpositionText, 'lines' | 'textBytes'>;
  readonly #nodes: Pick<TrackedNodes, 'variables'>;

  constructor(
    text: Pick<ExpositionText, 'lines' | 'textBytes'>,
    nodes: Pick<TrackedNodes, 'variables'>,
    limits = DEFAULT_LIMITS,
  ) {
    this.#text = text;
    this.#nodes = nodes;
    this.limits = limits;
  }

  /** The limit that one more item with this many bytes of text would exceed; undefined if none. */
  reached(kind: 'objects' | 'variables' | 'series', textBytes = 0): keyof TargetLimits | undefined {
    return this.#sizeOf(kind) >= this.limits[kind] ? kind : this.reachedByText(textBytes);
  }

  /** The limit that this many more bytes of text would exceed; undefined if none. */
  reachedByText(textBytes: number): keyof TargetLimits | undefined {
    const bytes = this.#text.textBytes + this.frameBytes + textBytes;
    return bytes > this.limits.textBytes ? 'textBytes' : undefined;
  }

  #sizeOf(kind: 'objects' | 'variables' | 'series'): number {
    if (kind === 'objects') return this.objects;
    return kind === 'variables' ? this.#nodes.variables.total : this.#text.lines;
  }
}

/** How many items the text of a target omits now. */
export interface Omissions {
  /**
   * Series that are not shown because another series has the same name and labels, or another metric has the same
   * name.
   */
  readonly clashingSeries: number;
  /** Series, objects and variables omitted because of a limit, and series with a reserved name. */
  readonly omittedSeries: number;
  readonly omittedObjects: number;
  readonly omittedVariables: number;
}

type OmissionCounter = 'omittedSeries' | 'omittedObjects' | 'omittedVariables';

/** The maximum number of items that are recorded. */
const MAX_ITEMS = 10_000;

/**
 * The omitted items, in groups: for example, the variables of an object. Items beyond the first 10,000 are not
 * recorded; together they add 1 to the amount, until the target gets a new view.
 */
export class OmittedItems {
  readonly #counters: Counters;
  readonly #counter: OmissionCounter;
  readonly #groups = new Map<number, Map<string | number, number>>();
  #items = 0;
  #amount = 0;
  #unrecorded = 0;

  /** @param counter the name of the counter that counts each item once */
  constructor(counters: Counters, counter: OmissionCounter) {
    this.#counters = counters;
    this.#counter = counter;
  }

  /** How many series, objects or variables are omitted. */
  get amount(): number {
    return this.#amount + this.#unrecorded;
  }

  /**
   * Adds an item of `amount` series, objects or variables, or changes its amount. Counts the increase of its amount.
   * If there are too many items, the item is not recorded, and each call counts the whole amount.
   */
  add(group: number, key: string | number, amount = 1): void {
    const former = this.delete(group, key);
    if (this.#items >= MAX_ITEMS) {
      this.addUnrecorded(amount);
      return;
    }
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new Map([[key, amount]]));
    else keys.set(key, amount);
    this.#items++;
    this.#amount += amount;
    this.#counters[this.#counter] += Math.max(0, amount - former);
  }

  /** Counts an item without recording it. All such items together add 1 to the amount. */
  addUnrecorded(amount = 1): void {
    this.#unrecorded = 1;
    this.#counters[this.#counter] += amount;
  }

  /** Whether any item of a group is recorded. If none is, `delete` does nothing. */
  has(group: number): boolean {
    return this.#items > 0 && this.#groups.has(group);
  }

  /** Forgets an item. Returns its amount; 0 if it was not recorded. */
  delete(group: number, key: string | number): number {
    const keys = this.#groups.get(group);
    const amount = keys?.get(key);
    if (keys === undefined || amount === undefined) return 0;
    keys.delete(key);
    if (keys.size === 0) this.#groups.delete(group);
    this.#items--;
    this.#amount -= amount;
    return amount;
  }

  /** Forgets all items of a group. */
  deleteAll(group: number): void {
    for (const key of [...(this.#groups.get(group)?.keys() ?? [])]) this.delete(group, key);
  }
}
