// The objects of a component in the shape and the JSON of the vendor's programs.
import type { ObjectState, ValueType, VariableKind } from '#app/model.js';
import type { ServedObject, ServedValue, ServedVariable } from './served-tree.js';

/** The vendor's names of types. */
export const VENDOR_TYPES = {
  counter: 'Counter',
  gauge: 'Gauge',
  number: 'Numeric',
  large: 'Large Numeric',
  flag: 'Boolean',
  text: 'String',
  /** Not a vendor type. The vendor has no fractions, so readers must go by the JSON value. */
  fraction: 'Floating',
} as const;

const MIN = -(2n ** 31n);
const MAX = 2n ** 31n - 1n;

/** The vendor's type of a variable; undefined if the vendor has none for it. */
export function vendorType(
  type: ValueType,
  kind: VariableKind,
  value: ServedValue | undefined,
): string | undefined {
  switch (type) {
    case 'bool':
      return VENDOR_TYPES.flag;
    case 'string':
      return VENDOR_TYPES.text;
    case 'f64':
      return VENDOR_TYPES.fraction;
    case 'u64':
    case 'i64':
      if (kind === 'counter') return VENDOR_TYPES.counter;
      if (kind === 'gauge') return VENDOR_TYPES.gauge;
      return typeof value === 'bigint' && (value < MIN || value > MAX)
        ? VENDOR_TYPES.large
        : VENDOR_TYPES.number;
    default:
      return undefined;
  }
}

/** A bigint is an integer, a number is a fraction. */
export type VendorValue = bigint | number | boolean | string | null;

export interface VendorVariable {
  readonly Name: string;
  readonly Type: string;
  readonly Value: VendorValue;
}

export interface VendorObject {
  readonly Instance: string;
  readonly Class: string;
  readonly State?: string;
  readonly Variables: readonly VendorVariable[];
  readonly Children: readonly VendorObject[];
}

export const STATE_TEXTS: Readonly<Record<ObjectState, string>> = {
  init: 'Init',
  normal: 'Normal',
  manual_recovery: 'Manual Recovery',
  auto_recovery: 'Auto Recovery',
  dead: 'Dead',
  invalid: 'Invalid',
};

/** Converts an object. Normal objects get no `State`; histograms and summaries are left out. */
export function vendorObject({
  id,
  className,
  state,
  variables,
  children,
}: ServedObject): VendorObject {
  return {
    Instance: id,
    Class: className,
    ...(state !== 'normal' && { State: STATE_TEXTS[state] }),
    Variables: vendorVariables(variables),
    Children: Array.from(children, vendorObject),
  };
}

function vendorVariables(variables: Iterable<ServedVariable>): VendorVariable[] {
  const made: VendorVariable[] = [];
  for (const { name, type, kind, value } of variables) {
    const Type = vendorType(type, kind, value);
    if (Type !== undefined) made.push({ Name: name, Type, Value: value ?? null });
  }
  return made;
}

/** The variables that identify a run of a process, with values of another run. */
const OTHER: readonly VendorVariable[] = [
  { Name: 'processID', Type: VENDOR_TYPES.number, Value: 99_999n },
  { Name: 'time', Type: VENDOR_TYPES.text, Value: 'Tue Jan  6 09:30:00 2026' },
];
const OTHER_NAMES = OTHER.map(({ Name }) => Name);

/** The root as another run of the process would show it. */
export const otherRun = (root: VendorObject): VendorObject => ({
  ...root,
  Variables: [...root.Variables.filter(({ Name }) => !OTHER_NAMES.includes(Name)), ...OTHER],
});

/** A pseudo-random integer from 0 to below `end` that depends on the text only. */
export function choice(about: string, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < about.length; at++)
    hash = Math.imul(hash ^ about.charCodeAt(at), 0x01000193);
  // FNV-1a gives texts with the same end similar low bits: mix them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % end;
}

/** True for about one text in `one`. */
export const isChosen = (about: string, one: number): boolean => choice(about, one) === 0;

/** Irregular spellings of the same tree; the plain text has none. */
export interface TextOddities {
  /** Writes some empty lists as null, and omits others. */
  readonly absent: boolean;
  /** Adds unknown members. */
  readonly extras: boolean;
  /** Adds blanks and escapes, and changes the order of members. */
  readonly spelling: boolean;
}

const PLAIN: TextOddities = { absent: false, extras: false, spelling: false };

type Member = readonly [name: string, valueText: string];

const EXTRA_OF_OBJECT: Member = [
  'Links',
  '{"Instance":"none.1.x","Children":[{"Instance":"none.1.x.y","Variables":[]}],"Value":-1e5}',
];
const EXTRA_OF_VARIABLE: Member = [
  'History',
  '[{"Name":"none","Value":[1,2.5,null]},{},[],"\\"}]",true]',
];

/** Writes objects as JSON. Recursion is safe: a `ServedTree` has at most 1000 levels. */
class JsonWriter {
  readonly #oddities: TextOddities;

  constructor(oddities: TextOddities) {
    this.#oddities = oddities;
  }

  text(content: VendorObject | readonly VendorObject[]): string {
    const text = 'Instance' in content ? this.#object(content, 0) : this.#list(content, 0);
    return this.#oddities.spelling ? ` ${text}\r\n` : text;
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
    else if (this.#oddities.extras && isChosen(`state ${Instance}`, 3))
      members.push(['State', this.#quoted('Splendid')]);
    const variables = () =>
      this.#enclosed(
        '[',
        Variables.map((each) => this.#variable(each, Instance, depth + 2)),
        ']',
        depth + 1,
      );
    this.#addList(members, 'Variables', Variables, variables, Instance);
    this.#addList(members, 'Children', Children, () => this.#list(Children, depth + 1), Instance);
    if (this.#oddities.extras && isChosen(`extra ${Instance}`, 2))
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
    if (this.#oddities.extras && isChosen(`extra ${about}`, 4))
      members.splice(choice(about, 4), 0, EXTRA_OF_VARIABLE);
    return this.#record(members, about, depth);
  }

  /** Adds a list, or with `absent` null or nothing for an empty one. */
  #addList(
    members: Member[],
    name: string,
    list: readonly unknown[],
    text: () => string,
    instance: string,
  ): void {
    const mayBeAbsent = this.#oddities.absent && list.length === 0;
    const variant = mayBeAbsent ? choice(`${name} ${instance}`, 3) : 0;
    if (variant === 0) members.push([name, text()]);
    else if (variant === 1) members.push([name, 'null']);
  }

  #record(members: readonly Member[], about: string, depth: number): string {
    const first = this.#oddities.spelling ? choice(`order ${about}`, members.length) : 0;
    const colon = this.#oddities.spelling ? ' : ' : ':';
    const texts = [...members.slice(first), ...members.slice(0, first)].map(
      ([name, text]) => `${this.#quoted(name)}${colon}${text}`,
    );
    return this.#enclosed('{', texts, '}', depth);
  }

  #enclosed(open: string, texts: readonly string[], close: string, depth: number): string {
    if (!this.#oddities.spelling) return `${open}${texts.join(',')}${close}`;
    const gap = `\n${'\t'.repeat(depth)}`;
    return `${open}${gap}\t${texts.join(`,${gap}\t`)}${gap}${close}`;
  }

  #quoted(text: string): string {
    const plain = JSON.stringify(text);
    if (!this.#oddities.spelling) return plain;
    // Half of the texts have escapes that they do not need.
    const hasExtraEscapes = isChosen(`escape ${text}`, 2);
    return plain.replace(ESCAPABLE, (each) =>
      each.length === 1 && (hasExtraEscapes || each > '~') ? escaped(each) : each,
    );
  }
}

/** An escape, or a character that may be written as one. */
const ESCAPABLE = /\\u....|\\.|[/a-e]|[^ -~]/g;

const escaped = (character: string): string =>
  character === '/'
    ? '\\/'
    : `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The JSON of a value; NaN and infinities are null. */
function valueJson(value: Exclude<VendorValue, string>): string {
  return typeof value === 'number' ? fractionText(value) : String(value);
}

/** `42.0` for 42, so that readers of the text do not take it for an integer. */
function fractionText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/**
 * The JSON of one object or of a list.
 * @param oddities default: none, for a text without blanks
 */
export const vendorJson = (
  content: VendorObject | readonly VendorObject[],
  oddities = PLAIN,
): string => new JsonWriter(oddities).text(content);
