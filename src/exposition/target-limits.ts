// Limits of one target. Objects, variables and series beyond the limits are left out, counted, and named in the log.
import type { Counters } from './counters.js';
import { OmittedItems } from './omitted-items.js';

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

/** Compares the size of a target with its limits. */
export class TargetUsage {
  readonly #size: TargetLimits;
  readonly limits: TargetLimits;

  /** @param size the current size of the target; each check calls its getters */
  constructor(size: TargetLimits, limits = DEFAULT_LIMITS) {
    this.#size = size;
    this.limits = limits;
  }

  /** The limit that one more item with this many bytes of text would exceed; undefined if none. */
  reached(kind: 'objects' | 'variables' | 'series', textBytes = 0): keyof TargetLimits | undefined {
    return this.#size[kind] >= this.limits[kind] ? kind : this.reachedByText(textBytes);
  }

  /** The limit that this many more bytes of text would exceed; undefined if none. */
  reachedByText(textBytes: number): keyof TargetLimits | undefined {
    return this.#size.textBytes + textBytes > this.limits.textBytes ? 'textBytes' : undefined;
  }
}

interface LimitedObject {
  readonly id: number;
  readonly name: string;
}
interface LimitedVariable extends LimitedObject {
  readonly object: LimitedObject;
}

/**
 * Admits objects and variables up to the limits. An omitted node that `OmittedItems` records counts once, even if it is
 * offered again.
 */
export class NodeLimiter {
  readonly #usage: TargetUsage;
  readonly #onOmitted: OnOmitted;
  readonly #counters: Counters;
  readonly #omittedObjects = new OmittedItems();
  /** Grouped by object. */
  readonly #omittedVariables = new OmittedItems();

  constructor(usage: TargetUsage, counters: Counters, onOmitted: OnOmitted = () => undefined) {
    this.#usage = usage;
    this.#counters = counters;
    this.#onOmitted = onOmitted;
  }

  /** The numbers of objects and variables that are omitted now. */
  get omittedObjects(): number {
    return this.#omittedObjects.amount;
  }
  get omittedVariables(): number {
    return this.#omittedVariables.amount;
  }

  admitsObject(object: LimitedObject): boolean {
    const limit = this.#usage.reached('objects');
    if (limit === undefined) {
      this.#omittedObjects.deleteAll(object.id);
      return true;
    }
    this.#counters.omittedObjects += this.#omittedObjects.add(object.id, '');
    this.#onOmitted(limit, `object ${object.name}`);
    return false;
  }

  admitsVariable(variable: LimitedVariable): boolean {
    const { id, name, object } = variable;
    const limit = this.#usage.reached('variables');
    if (limit === undefined) {
      this.#omittedVariables.delete(object.id, id);
      return true;
    }
    this.#counters.omittedVariables += this.#omittedVariables.add(object.id, id);
    this.#onOmitted(limit, `variable ${name} of ${object.name}`);
    return false;
  }

  /** Stops counting an object that was removed, and its variables. */
  objectGone({ id }: LimitedObject): void {
    this.#omittedObjects.deleteAll(id);
    this.#omittedVariables.deleteAll(id);
  }

  variableGone({ id, object }: LimitedVariable): void {
    this.#omittedVariables.delete(object.id, id);
  }
}
