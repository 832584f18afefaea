// Writes the JSON of a component, optionally with irregular formatting.
import { VENDOR_TYPES, valueJson } from '#app/simulator/component/vendor-json.js';
import type { VendorObject, VendorVariable } from '#app/simulator/component/vendor-json.js';

/** The variables that identify a run of a process, with the values of a different run. */
const OTHER: readonly VendorVariable[] = [
  { Name: 'processID', Type: VENDOR_TYPES.number, Value: 99_999n },
  { Name: 'time', Type: VENDOR_TYPES.text, Value: 'Tue Jan  6 09:30:00 2026' },
];
const OTHER_NAMES = OTHER.map(({ Name }) => Name);

/** The root as a different run of the same process would show it. */
export const otherRun = (root: VendorObject): VendorObject => ({
  ...root,
  Variables: [...root.Variables.filter(({ Name }) => !OTHER_NAMES.includes(Name)), ...OTHER],
});

/** A pseudo-random integer, at least 0 and below `end`, that depends on the text only. */
export function choice(about: string, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < about.length; at++)
    hash = Math.imul(hash ^ about.charCodeAt(at), 0x01000193);
  // FNV-1a gives texts with the same ending similar low bits. Mix the bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % end;
}

/** True for one in every `one` texts, on average. */
export const isChosen = (about: string, one: number): boolean => choice(about, one) === 0;

/** Which irregularities the text of a tree has. Plain text has none. */
export interface TextOddities {
  /** Writes some empty lists as null, and omits others. */
  readonly missing_lists: boolean;
  /** Adds unknown members. */
  readonly unknown_members: boolean;
  /** Adds blanks and escapes, and reorders members. */
  readonly formatting: boolean;
}

const PLAIN: TextOddities = { missing_lists: false, unknown_members: false, formatting: false };

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
    return this.#oddities.formatting ? ` ${text}\r\n` : text;
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
    else if (this.#oddities.unknown_members && isChosen(`state ${Instance}`, 3))
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
    if (this.#oddities.unknown_members && isChosen(`extra ${Instance}`, 2))
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
    if (this.#oddities.unknown_members && isChosen(`extra ${about}`, 4))
      members.splice(choice(about, 4), 0, EXTRA_OF_VARIABLE);
    return this.#record(members, about, depth);
  }

  /** Adds a list. With `missing_lists`, an empty list becomes null or is omitted. */
  #addList(
    members: Member[],
    name: string,
    list: readonly unknown[],
    text: () => string,
    instance: string,
  ): void {
    const mayBeAbsent = this.#oddities.missing_lists && list.length === 0;
    const variant = mayBeAbsent ? choice(`${name} ${instance}`, 3) : 0;
    if (variant === 0) members.push([name, text()]);
    else if (variant === 1) members.push([name, 'null']);
  }

  #record(members: readonly Member[], about: string, depth: number): string {
    const first = this.#oddities.formatting ? choice(`order ${about}`, members.length) : 0;
    const colon = this.#oddities.formatting ? ' : ' : ':';
    const texts = [...members.slice(first), ...members.slice(0, first)].map(
      ([name, text]) => `${this.#quoted(name)}${colon}${text}`,
    );
    return this.#enclosed('{', texts, '}', depth);
  }

  #enclosed(open: string, texts: readonly string[], close: string, depth: number): string {
    if (!this.#oddities.formatting) return `${open}${texts.join(',')}${close}`;
    const gap = `\n${'\t'.repeat(depth)}`;
    return `${open}${gap}\t${texts.join(`,${gap}\t`)}${gap}${close}`;
  }

  #quoted(text: string): string {
    const plain = JSON.stringify(text);
    if (!this.#oddities.formatting) return plain;
    // Half of the texts get escapes that JSON does not require.
    const hasExtraEscapes = isChosen(`escape ${text}`, 2);
    return plain.replace(ESCAPABLE, (each) =>
      each.length === 1 && (hasExtraEscapes || each > '~') ? escaped(each) : each,
    );
  }
}

/** An existing escape, or a character that may be escaped in JSON. */
const ESCAPABLE = /\\u....|\\.|[/a-e]|[^ -~]/g;

const escaped = (character: string): string =>
  character === '/'
    ? '\\/'
    : `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Returns the JSON of one object or of a list.
 * @param oddities default: neither oddities nor blanks
 */
export const oddJson = (
  content: VendorObject | readonly VendorObject[],
  oddities = PLAIN,
): string => new JsonWriter(oddities).text(content);
