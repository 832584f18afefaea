// States of which only the turns are told.

type State = string | boolean;

export class Turns {
  readonly #states = new Map<string, State>();

  /** Notes a state; true when it is another one than before. Flags begin as false. */
  to(what: string, state: State): boolean {
    const before = this.#states.get(what) ?? (typeof state === 'boolean' ? false : undefined);
    this.#states.set(what, state);
    return before !== state;
  }
}
