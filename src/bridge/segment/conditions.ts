// Reports a condition only when it changes.

type State = string | boolean;

export class Conditions {
  readonly #states = new Map<string, State>();

  /** Sets a state; true if it differs from the one before. Flags begin as false. */
  changeTo(what: string, state: State): boolean {
    const before = this.#states.get(what) ?? (typeof state === 'boolean' ? false : undefined);
    this.#states.set(what, state);
    return before !== state;
  }
}
