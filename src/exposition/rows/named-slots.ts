// The slots of an object's variables by their names: lists while they are few, a map for many.

/** Up to so many, looking through a list takes about as long as a map. */
const MAX_LISTED = 100;

const NO_NAMES: string[] = [];
const NO_SLOTS: number[] = [];

export class NamedSlots {
  #names = NO_NAMES;
  #slots = NO_SLOTS;
  #map: Map<string, number> | undefined;

  get(name: string): number | undefined {
    if (this.#map !== undefined) return this.#map.get(name);
    return this.#slots[this.#names.indexOf(name)];
  }

  set(name: string, slot: number): void {
    if (this.#map !== undefined) {
      this.#map.set(name, slot);
      return;
    }
    const index = this.#names.indexOf(name);
    if (index >= 0) this.#slots[index] = slot;
    else this.add(name, slot);
  }

  /** Adds a name that is not there. */
  add(name: string, slot: number): void {
    if (this.#map !== undefined) {
      this.#map.set(name, slot);
      return;
    }
    // Many objects have one variable, and a list that grows has room for 17.
    if (this.#names.length === 0) [this.#names, this.#slots] = [[name], [slot]];
    else {
      this.#names.push(name);
      this.#slots.push(slot);
    }
    if (this.#names.length <= MAX_LISTED) return;
    this.#map = new Map(this.#names.map((each, i) => [each, this.#slots[i] ?? 0]));
    this.#names = NO_NAMES;
    this.#slots = NO_SLOTS;
  }

  delete(name: string): void {
    this.#map?.delete(name);
    const index = this.#names.indexOf(name);
    if (index < 0) return;
    // The last one takes its place.
    const [lastName, lastSlot] = [this.#names.pop() ?? '', this.#slots.pop() ?? 0];
    if (index === this.#names.length) return;
    this.#names[index] = lastName;
    this.#slots[index] = lastSlot;
  }

  /** All slots. */
  values(): Iterable<number> {
    return this.#map?.values() ?? this.#slots;
  }
}
