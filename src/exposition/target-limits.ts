// The most that one target may have: what is beyond is left out, counted, and named.
import { LeftOut } from './left-out.js';

export interface TargetLimits {
  readonly objects: number;
  readonly variables: number;
  readonly series: number;
  /** Bytes of all names and labels. */
  readonly textBytes: number;
  /** Bytes of memory, as `memoryOf` estimates them. */
  readonly memoryBytes: number;
}

export const DEFAULT_LIMITS: TargetLimits = {
  objects: 1_000_000,
  variables: 2_000_000,
  series: 2_000_000,
  textBytes: 2 ** 29,
  memoryBytes: 2 ** 31,
};

/** What a target has at the moment. */
export interface TargetSize extends Omit<TargetLimits, 'memoryBytes'> {
  /** Bytes of the texts and distributions that its rows read. */
  readonly frameBytes: number;
}

/**
 * Bytes of memory that each takes, in the tree of its segment and in the target. Measured as the growth
 * of the process, with trees of 100,000 to 400,000 variables: docs/performance.md, "Memory of a target".
 */
const BYTES_OF = { objects: 1280, variables: 256, series: 256, textBytes: 2 };

/** Bytes of memory that a target of this size takes: an estimate, right to about a third. */
export const memoryOf = ({
  objects,
  variables,
  series,
  textBytes,
  frameBytes,
}: TargetSize): number =>
  frameBytes +
  objects * BYTES_OF.objects +
  variables * BYTES_OF.variables +
  series * BYTES_OF.series +
  textBytes * BYTES_OF.textBytes;

/** Called with each object, variable or series that a limit leaves out, such as `object h.1.shop.a`. */
export type OnOmitted = (limit: keyof TargetLimits, what: string) => void;

/** The settings that the limits come from. */
const SETTINGS: Readonly<Record<keyof TargetLimits, string>> = {
  objects: 'target_max_objects',
  variables: 'target_max_variables',
  series: 'target_max_series',
  textBytes: 'target_max_text_bytes',
  memoryBytes: 'target_max_memory_bytes',
};

/** A limit as its setting and value, such as `target_max_series is 1000`. */
export const limitText = (limits: TargetLimits, limit: keyof TargetLimits): string =>
  `${SETTINGS[limit]} is ${limits[limit]}`;

/** Labels of fewer characters, with a name, surely take fewer bytes than that. */
const SHORT_TEXT = 1024;
const SHORT_TEXT_BYTES = 8192;

/** How much more a target may have. */
export class TargetRoom {
  readonly #size: TargetSize;
  readonly limits: TargetLimits;
  /** So many more with short texts fit for certain: the size need not be looked at for each. */
  #certain = 0;

  /** @param size of the target, as it is when it is looked at */
  constructor(size: TargetSize, limits = DEFAULT_LIMITS) {
    this.#size = size;
    this.limits = limits;
  }

  /** The limit that leaves no room for one more, with so many bytes of text; undefined if there is room. */
  reached(kind: 'objects' | 'variables' | 'series', textBytes = 0): keyof TargetLimits | undefined {
    if (this.#certain > 0 && textBytes < SHORT_TEXT) {
      this.#certain--;
      return undefined;
    }
    const limit = this.#size[kind] >= this.limits[kind] ? kind : this.#textReached(textBytes);
    if (limit === undefined) this.#certain = this.#fitting();
    return limit;
  }

  /** The limit that leaves no room for so many bytes of text more of what is there. */
  reachedByText(textBytes: number): keyof TargetLimits | undefined {
    // Room was kept for some of that when more was let in, but not for all of it.
    this.#certain = 0;
    return this.#textReached(textBytes);
  }

  /** The limit that leaves no room for so many bytes more of a value that is copied. */
  reachedByFrame(bytes: number): keyof TargetLimits | undefined {
    const after = memoryOf(this.#size) + bytes;
    // Room was kept for some of that, as for texts.
    if (after > this.limits.memoryBytes / 2) this.#certain = 0;
    return after > this.limits.memoryBytes ? 'memoryBytes' : undefined;
  }

  #textReached(textBytes: number): keyof TargetLimits | undefined {
    const size = this.#size;
    if (size.textBytes + textBytes > this.limits.textBytes) return 'textBytes';
    return memoryOf(size) >= this.limits.memoryBytes ? 'memoryBytes' : undefined;
  }

  /** Half of the largest items that fit: the other half is for texts that grow. */
  #fitting(): number {
    const { objects, variables, series, textBytes, memoryBytes } = this.limits;
    const size = this.#size;
    const room = Math.min(
      objects - size.objects,
      variables - size.variables,
      series - size.series,
      (textBytes - size.textBytes) / SHORT_TEXT_BYTES,
      (memoryBytes - memoryOf(size)) / (BYTES_OF.objects + BYTES_OF.textBytes * SHORT_TEXT_BYTES),
    );
    return Math.max(0, Math.floor(room / 2) - 1);
  }
}

interface Item {
  readonly id: number;
  readonly name: string;
}
interface ItemOfObject extends Item {
  readonly object: Item;
}

/** Lets items in while there is room. */
export class ItemGate {
  readonly #room: TargetRoom;
  readonly #onOmitted: OnOmitted;
  #objects = 0;
  #variables = 0;
  readonly #leftObjects = new LeftOut();
  /** By object. */
  readonly #leftVariables = new LeftOut();

  constructor(room: TargetRoom, onOmitted: OnOmitted = () => undefined) {
    this.#room = room;
    this.#onOmitted = onOmitted;
  }

  /** Objects and variables that were left out, since the start. */
  get omittedObjects(): number {
    return this.#objects;
  }
  get omittedVariables(): number {
    return this.#variables;
  }

  /** Objects and variables that are left out now. */
  get leftObjects(): number {
    return this.#leftObjects.amount;
  }
  get leftVariables(): number {
    return this.#leftVariables.amount;
  }

  admitsObject(object: Item): boolean {
    this.#leftObjects.deleteAll(object.id);
    const limit = this.#room.reached('objects');
    if (limit === undefined) return true;
    this.#objects++;
    this.#leftObjects.add(object.id, '');
    this.#onOmitted(limit, `object ${object.name}`);
    return false;
  }

  admitsVariable(variable: ItemOfObject): boolean {
    const { id, name, object } = variable;
    this.#leftVariables.delete(object.id, id);
    const limit = this.#room.reached('variables');
    if (limit === undefined) return true;
    this.#variables++;
    this.#leftVariables.add(object.id, id);
    this.#onOmitted(limit, `variable ${name} of ${object.name}`);
    return false;
  }

  /** An object is not there any more, nor are its variables. */
  objectGone({ id }: Item): void {
    this.#leftObjects.deleteAll(id);
    this.#leftVariables.deleteAll(id);
  }

  variableGone({ id, object }: ItemOfObject): void {
    this.#leftVariables.delete(object.id, id);
  }
}
