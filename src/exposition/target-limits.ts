// The most that one target may have: what is beyond is left out, counted, and named.

export interface TargetLimits {
  readonly objects: number;
  readonly variables: number;
  readonly series: number;
  /** Bytes of all names and labels. */
  readonly textBytes: number;
}

export const DEFAULT_LIMITS: TargetLimits = {
  objects: 1_000_000,
  variables: 2_000_000,
  series: 2_000_000,
  textBytes: 2 ** 29,
};

/** Called with each object, variable or series that a limit leaves out. */
export type OnOmitted = (limit: keyof TargetLimits, name: string) => void;

/** Lets items in up to a limit. */
export class ItemGate {
  readonly #limits: TargetLimits;
  readonly #onOmitted: OnOmitted;
  #objects = 0;
  #variables = 0;

  constructor(limits = DEFAULT_LIMITS, onOmitted: OnOmitted = () => undefined) {
    this.#limits = limits;
    this.#onOmitted = onOmitted;
  }

  /** Objects and variables that were left out, since the start. */
  get omittedObjects(): number {
    return this.#objects;
  }
  get omittedVariables(): number {
    return this.#variables;
  }

  /** Whether there is room for an object beside so many. */
  hasRoomForObject(count: number, { name }: { readonly name: string }): boolean {
    if (count < this.#limits.objects) return true;
    this.#objects++;
    this.#onOmitted('objects', name);
    return false;
  }

  /** Whether there is room for a variable beside so many. */
  hasRoomForVariable(
    count: number,
    { name, object }: { readonly name: string; readonly object: { readonly name: string } },
  ): boolean {
    if (count < this.#limits.variables) return true;
    this.#variables++;
    this.#onOmitted('variables', `${name} of ${object.name}`);
    return false;
  }
}
