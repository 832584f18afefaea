// Irregularities that occur in the JSON of real components, by name. With any of them, a correct reader reads
// the same tree.
import { VENDOR_TYPES } from '#app/simulator/component/vendor-json.js';
import type {
  VendorObject,
  VendorValue,
  VendorVariable,
} from '#app/simulator/component/vendor-json.js';
import { choice, isChosen, oddJson } from './odd-json.js';
import type { TextOddities } from './odd-json.js';

function withRepeatedVariables(object: VendorObject): VendorObject {
  const { Instance, Variables } = object;
  const earlier = Variables.filter(
    ({ Name, Value }) => Value !== null && isChosen(`twin ${Instance} ${Name}`, 6),
  ).map(altered);
  if (earlier.length === 0) return object;
  return { ...object, Variables: [...earlier, ...Variables] };
}

/**
 * Repeats some objects. The second occurrence follows the first one in the same parent, or is below the last
 * root.
 */
function withRepeatedObjects(roots: readonly VendorObject[]): readonly VendorObject[] {
  const strays: VendorObject[] = [];
  const inside = (objects: readonly VendorObject[], isTop: boolean): readonly VendorObject[] => {
    const firsts = objects.map((object) => ({
      ...object,
      Children: inside(object.Children, false),
    }));
    const seconds = objects
      .filter(({ Instance }) => isChosen(`duplicate ${Instance}`, 6))
      .map(second);
    const isStray = ({ Instance }: VendorObject) => !isTop && choice(`stray ${Instance}`, 2) === 0;
    strays.push(...seconds.filter(isStray));
    return [...firsts, ...seconds.filter((each) => !isStray(each))];
  };
  const all = inside(roots, true);
  return all.map((root, index) =>
    index === roots.length - 1 ? { ...root, Children: [...root.Children, ...strays] } : root,
  );
}

/** The second occurrence of an object: without children, and with other values. */
const second = ({ Instance, Class, Variables }: VendorObject): VendorObject => ({
  Instance,
  Class,
  Variables: Variables.map(altered),
  Children: [],
});

const altered = (variable: VendorVariable): VendorVariable => ({
  ...variable,
  Value: another(variable.Value),
});

/** Returns another value of the same type, even if the type depends on the size of the value. */
function another(value: VendorValue): VendorValue {
  switch (typeof value) {
    case 'bigint':
      return value ^ 1n;
    case 'number':
      return value === 0.5 ? 1.5 : 0.5;
    case 'boolean':
      return !value;
    case 'string':
      return `${value}~`;
    default:
      return null;
  }
}

/** @param about a text that identifies the variable */
type OddVariable = (variable: VendorVariable, about: string) => VendorVariable;

const { counter, gauge, number, large, flag, text } = VENDOR_TYPES;

const wrapped: OddVariable = (variable) => {
  const { Type, Value } = variable;
  const isPast = typeof Value === 'bigint' && Value >= 2n ** 31n && Value < 2n ** 32n;
  return Type === counter && isPast ? { ...variable, Value: Value - 2n ** 32n } : variable;
};

/**
 * The limits of a range are up to twice the value and must fit into 64 bits, so larger values get no range.
 */
const LIMIT = 2n ** 62n;

const ranged: OddVariable = (variable, about) => {
  const { Name, Type, Value } = variable;
  const isInRange = Type === gauge && typeof Value === 'bigint' && Value < LIMIT && Value > -LIMIT;
  if (!isInRange || !isChosen(`range ${about}`, 2)) return variable;
  const isPlain = isChosen(`plain range ${about}`, 4);
  const least = Value < 0n ? Value * 2n : 0n;
  const most = Value > 50n ? Value * 2n : 100n;
  return {
    Name,
    Type: 'Numeric Range',
    Value: isPlain ? Value : `${Value} (${least}..${most})`,
  };
};

const CONFIGURED: readonly string[] = [flag, gauge, number, text];

const configured: OddVariable = (variable, about) =>
  CONFIGURED.includes(variable.Type) && isChosen(`config ${about}`, 3)
    ? { ...variable, Type: `${variable.Type} Config` }
    : variable;

/** Vendor types that a reader can also infer from the JSON value. */
const EVIDENT: readonly string[] = [flag, text, number, large];

const strange: OddVariable = (variable, about) =>
  EVIDENT.includes(variable.Type) && variable.Value !== null && isChosen(`strange ${about}`, 4)
    ? { ...variable, Type: 'Exotic Thing' }
    : variable;

const numeric: OddVariable = (variable, about) => {
  const { Type, Value } = variable;
  const isText = Type === text || Type === `${text} Config`;
  if (!isText || typeof Value !== 'string' || choice(`number ${about}`, 3) > 1) return variable;
  return /^(0|-?[1-9]\d{0,18})$/.test(Value) ? { ...variable, Value: BigInt(Value) } : variable;
};

/** The changes that an oddity makes to the tree. `TextOddities` has the changes to the text. */
interface SimulatedOddity {
  readonly roots?: (roots: readonly VendorObject[]) => readonly VendorObject[];
  readonly object?: (object: VendorObject) => VendorObject;
  readonly variable?: OddVariable;
}

/** Oddities in the order in which they apply: those that change values precede those that change types. */
export const ODDITIES = {
  /** Some variables occur twice in their object; a reader must use the later one. */
  repeated_variables: { object: withRepeatedVariables },
  /** Some objects occur twice; a reader must use the first one in the text. */
  repeated_objects: { roots: withRepeatedObjects },
  /** Counters from 2^31 to 2^32 - 1 are written as negative numbers; a reader must add 2^32. */
  wrapped_counters: { variable: wrapped },
  /**
   * Some gauges have the type "Numeric Range"; the value is a text such as "42 (0..100)", or just the number.
   */
  numeric_ranges: { variable: ranged },
  /** Some types have unknown names; a reader must infer the type from the JSON value. */
  unknown_types: { variable: strange },
  /** Some types have the suffix " Config". */
  config_types: { variable: configured },
  /** Some texts that look like numbers, such as "42", are sent as numbers. */
  numeric_texts: { variable: numeric },
  /** Some empty lists are null or missing. */
  missing_lists: {},
  /** Objects have unknown members beside the known ones, and unknown states. */
  unknown_members: {},
  /** The text has extra blanks and escapes, and members in another order. */
  formatting: {},
} as const satisfies Record<string, SimulatedOddity>;

export type OddityName = keyof typeof ODDITIES;
export const ODDITY_NAMES = Object.keys(ODDITIES) as readonly OddityName[];

/** Applies a set of oddities. The same oddity always affects the same items. */
export class OddityFilter {
  readonly #oddities: readonly SimulatedOddity[];
  readonly #ofText: TextOddities;

  constructor(names: Iterable<OddityName>) {
    const chosen = new Set(names);
    this.#oddities = ODDITY_NAMES.filter((name) => chosen.has(name)).map((name) => ODDITIES[name]);
    this.#ofText = {
      missing_lists: chosen.has('missing_lists'),
      unknown_members: chosen.has('unknown_members'),
      formatting: chosen.has('formatting'),
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

  text(content: VendorObject | readonly VendorObject[]): string {
    return oddJson(content, this.#ofText);
  }
}

/** Applies a change to an object and to all objects below it. */
function changed(object: VendorObject, change: (own: VendorObject) => VendorObject): VendorObject {
  const own = change(object);
  return { ...own, Children: own.Children.map((child) => changed(child, change)) };
}

const withVariables = (object: VendorObject, change: OddVariable): VendorObject => ({
  ...object,
  Variables: object.Variables.map((each) => change(each, `${object.Instance} ${each.Name}`)),
});
