// The oddities of real trees, by name; a correct reader reads the same tree with any of them.
import { OddJson } from './odd-json.js';
import type { Freedoms } from './odd-json.js';
import { withDuplicates, withTwins } from './odd-tree.js';
import { configured, numeric, ranged, strange, wrapped } from './odd-variables.js';
import type { OddVariable } from './odd-variables.js';
import { vendorJson } from './vendor-json.js';
import type { VendorObject } from './vendor-tree.js';

interface Oddity {
  readonly roots?: (roots: readonly VendorObject[]) => readonly VendorObject[];
  readonly object?: (object: VendorObject) => VendorObject;
  readonly variable?: OddVariable;
}

/** In the order in which they are applied: values change before their types. */
export const ODDITIES = {
  /** Some variables occur twice in their object: the later one wins. */
  twins: { object: withTwins },
  /** Some instances occur twice: the first in the text wins. */
  duplicates: { roots: withDuplicates },
  /** Counters from 2^31 to 2^32 - 1 are negative: readers must add 2^32. */
  wrapped: { variable: wrapped },
  /** Some gauges are "Numeric Range" with a text such as "42 (0..100)", or the number. */
  ranges: { variable: ranged },
  /** Some types have unknown names: the JSON value says enough. */
  strange_types: { variable: strange },
  /** Some types have the suffix " Config". */
  config_types: { variable: configured },
  /** Some texts that are numbers, such as "42", are sent as numbers. */
  numbers_for_texts: { variable: numeric },
  /** Empty lists may be null or missing. */
  absent: {},
  /** Unknown members beside the known ones, and unknown states. */
  extras: {},
  /** Blanks, escapes, and members in another order. */
  spelling: {},
} as const satisfies Record<string, Oddity>;

export type OddityName = keyof typeof ODDITIES;
export const ODDITY_NAMES = Object.keys(ODDITIES) as readonly OddityName[];

/** Applies a set of oddities, to the same items each time. */
export class OddWays {
  readonly #oddities: readonly Oddity[];
  readonly #freedoms: Freedoms;

  constructor(names: Iterable<OddityName>) {
    const chosen = new Set(names);
    this.#oddities = ODDITY_NAMES.filter((name) => chosen.has(name)).map((name) => ODDITIES[name]);
    this.#freedoms = {
      absent: chosen.has('absent'),
      extras: chosen.has('extras'),
      spelling: chosen.has('spelling'),
    };
  }

  /** The objects with the oddities applied. */
  tree(roots: readonly VendorObject[]): readonly VendorObject[] {
    let shown = roots;
    for (const { roots: change, object, variable } of this.#oddities) {
      if (change !== undefined) shown = change(shown);
      if (object !== undefined) shown = shown.map((each) => changed(each, object));
      if (variable !== undefined)
        shown = shown.map((each) => changed(each, (own) => withVariables(own, variable)));
    }
    return shown;
  }

  /** Their text. */
  text(content: VendorObject | readonly VendorObject[]): string {
    const isPlain = !Object.values(this.#freedoms).includes(true);
    return isPlain ? vendorJson(content) : new OddJson(this.#freedoms).text(content);
  }
}

/** An object and all below it, changed. */
function changed(object: VendorObject, change: (own: VendorObject) => VendorObject): VendorObject {
  const own = change(object);
  return { ...own, Children: own.Children.map((child) => changed(child, change)) };
}

const withVariables = (object: VendorObject, change: OddVariable): VendorObject => ({
  ...object,
  Variables: object.Variables.map((each) => change(each, `${object.Instance} ${each.Name}`)),
});
