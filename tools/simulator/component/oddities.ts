// The oddities of real trees, by name; a correct reader reads the same tree with any of them.
import { VENDOR_TYPES, valueJson, vendorJson } from './served-tree.js';
import type { VendorObject, VendorValue, VendorVariable } from './served-tree.js';

/** A number from 0 to below `end`, the same for the same text. */
function choice(about: string, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < about.length; at++)
    hash = Math.imul(hash ^ about.charCodeAt(at), 0x01000193);
  // FNV gives similar low bits to texts with the same end.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % end;
}

/** True for about one text in `one`. */
const isChosen = (about: string, one: number): boolean => choice(about, one) === 0;

/** The allowed oddities of the text; the plain one has none. */
interface Freedoms {
  /** Empty lists are null or missing. */
  readonly absent: boolean;
  /** Unknown members beside the known ones. */
  readonly extras: boolean;
  /** Blanks, escapes, and members in another order. */
  readonly spelling: boolean;
}

/** Name and text of a value. */
type Member = readonly [name: string, text: string];

const EXTRA_OF_OBJECT: Member = [
  'Links',
  '{"Instance":"none.1.x","Children":[{"Instance":"none.1.x.y","Variables":[]}],"Value":-1e5}',
];
const EXTRA_OF_VARIABLE: Member = [
  'History',
  '[{"Name":"none","Value":[1,2.5,null]},{},[],"\\"}]",true]',
];

class OddJson {
  readonly #freedoms: Freedoms;

  constructor(freedoms: Freedoms) {
    this.#freedoms = freedoms;
  }

  text(content: VendorObject | readonly VendorObject[]): string {
    const text = 'Instance' in content ? this.#object(content, 0) : this.#list(content, 0);
    return this.#freedoms.spelling ? ` ${text}\r\n` : text;
  }

  #list(objects: readonly VendorObject[], depth: number): string {
    return this.#enclosed(
      '[',
      objects.map((each) => this.#object(each, depth + 1)),
      ']',
      depth,
    );
  }

  #object({ Instance, Class, State, Variables, Children }: VendorObject, depth: number): string {
    const members: Member[] = [
      ['Instance', this.#quoted(Instance)],
      ['Class', this.#quoted(Class)],
    ];
    if (State !== undefined) members.push(['State', this.#quoted(State)]);
    else if (this.#freedoms.extras && isChosen(`state ${Instance}`, 3))
      members.push(['State', this.#quoted('Splendid')]);
    const variables = () =>
      this.#enclosed(
        '[',
        Variables.map((each) => this.#variable(each, Instance, depth + 2)),
        ']',
        depth + 1,
      );
    this.#add(members, 'Variables', Variables, variables, Instance);
    this.#add(members, 'Children', Children, () => this.#list(Children, depth + 1), Instance);
    if (this.#freedoms.extras && isChosen(`extra ${Instance}`, 2))
      members.splice(choice(Instance, 4), 0, EXTRA_OF_OBJECT);
    return this.#record(members, Instance, depth);
  }

  #variable({ Name, Type, Value }: VendorVariable, instance: string, depth: number): string {
    const about = `${instance} ${Name}`;
    const members: Member[] = [
      ['Name', this.#quoted(Name)],
      ['Type', this.#quoted(Type)],
      ['Value', typeof Value === 'string' ? this.#quoted(Value) : valueJson(Value)],
    ];
    if (this.#freedoms.extras && isChosen(`extra ${about}`, 4))
      members.splice(choice(about, 4), 0, EXTRA_OF_VARIABLE);
    return this.#record(members, about, depth);
  }

  /** A list, or a replacement for an empty one. */
  #add(
    members: Member[],
    name: string,
    list: readonly unknown[],
    text: () => string,
    instance: string,
  ): void {
    const isFree = this.#freedoms.absent && list.length === 0;
    const way = isFree ? choice(`${name} ${instance}`, 3) : 0;
    if (way === 0) members.push([name, text()]);
    else if (way === 1) members.push([name, 'null']);
  }

  #record(members: readonly Member[], about: string, depth: number): string {
    const turn = this.#freedoms.spelling ? choice(`order ${about}`, members.length) : 0;
    const colon = this.#freedoms.spelling ? ' : ' : ':';
    const texts = [...members.slice(turn), ...members.slice(0, turn)].map(
      ([name, text]) => `${this.#quoted(name)}${colon}${text}`,
    );
    return this.#enclosed('{', texts, '}', depth);
  }

  #enclosed(open: string, texts: readonly string[], close: string, depth: number): string {
    if (!this.#freedoms.spelling) return `${open}${texts.join(',')}${close}`;
    const gap = `\n${'\t'.repeat(depth)}`;
    return `${open}${gap}\t${texts.join(`,${gap}\t`)}${gap}${close}`;
  }

  #quoted(text: string): string {
    const plain = JSON.stringify(text);
    if (!this.#freedoms.spelling) return plain;
    // Half of the texts have escapes where they need none.
    const isLavish = isChosen(`escape ${text}`, 2);
    return plain.replace(SPELLABLE, (each) =>
      each.length === 1 && (isLavish || each > '~') ? escaped(each) : each,
    );
  }
}

/** Splits a JSON text into escapes and characters. */
const SPELLABLE = /\\u....|\\.|[/a-e]|[^ -~]/g;

const escaped = (character: string): string =>
  character === '/'
    ? '\\/'
    : `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Some variables occur twice in their object; the later one wins. */
function withTwins(object: VendorObject): VendorObject {
  const { Instance, Variables } = object;
  const earlier = Variables.filter(
    ({ Name, Value }) => Value !== null && isChosen(`twin ${Instance} ${Name}`, 6),
  ).map(altered);
  if (earlier.length === 0) return object;
  return { ...object, Variables: [...earlier, ...Variables] };
}

/** Some instances occur twice, in their parent or elsewhere; the first in the text wins. */
function withDuplicates(roots: readonly VendorObject[]): readonly VendorObject[] {
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

/** Another value of the same type, and of the same size if the type depends on it. */
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

/** `about` identifies the variable. */
type OddVariable = (variable: VendorVariable, about: string) => VendorVariable;

const { counter, gauge, number, large, flag, text } = VENDOR_TYPES;

/** A 32-bit count above 2^31 is negative. */
const wrapped: OddVariable = (variable) => {
  const { Type, Value } = variable;
  const isPast = typeof Value === 'bigint' && Value >= 2n ** 31n && Value < 2n ** 32n;
  return Type === counter && isPast ? { ...variable, Value: Value - 2n ** 32n } : variable;
};

/** Limits, twice the value, still have 64 bits. */
const LIMIT = 2n ** 62n;

/** A gauge with its limits in a text; sometimes without them. */
const ranged: OddVariable = (variable, about) => {
  const { Name, Type, Value } = variable;
  const isFit = Type === gauge && typeof Value === 'bigint' && Value < LIMIT && Value > -LIMIT;
  if (!isFit || !isChosen(`range ${about}`, 2)) return variable;
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

/** Types of variables that are settings have a suffix. */
const configured: OddVariable = (variable, about) =>
  CONFIGURED.includes(variable.Type) && isChosen(`config ${about}`, 3)
    ? { ...variable, Type: `${variable.Type} Config` }
    : variable;

const TELLING: readonly string[] = [flag, text, number, large];

/** An unknown type, where the JSON value says as much as the type did. */
const strange: OddVariable = (variable, about) =>
  TELLING.includes(variable.Type) && variable.Value !== null && isChosen(`strange ${about}`, 4)
    ? { ...variable, Type: 'Exotic Thing' }
    : variable;

/** A text that is a number, written as one. */
const numeric: OddVariable = (variable, about) => {
  const { Type, Value } = variable;
  const isText = Type === text || Type === `${text} Config`;
  if (!isText || typeof Value !== 'string' || choice(`number ${about}`, 3) > 1) return variable;
  return /^(0|-?[1-9]\d{0,18})$/.test(Value) ? { ...variable, Value: BigInt(Value) } : variable;
};

interface SimulatedOddity {
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
} as const satisfies Record<string, SimulatedOddity>;

export type OddityName = keyof typeof ODDITIES;
export const ODDITY_NAMES = Object.keys(ODDITIES) as readonly OddityName[];

/** Applies a set of oddities, to the same items each time. */
export class OddWays {
  readonly #oddities: readonly SimulatedOddity[];
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
