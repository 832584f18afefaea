// JSON text of a tree with oddities of spelling and shape; slower than the plain one.
import { choice, isChosen } from './choice.js';
import type { VendorObject, VendorVariable } from './vendor-tree.js';
import { valueJson } from './vendor-json.js';

/** The allowed oddities of the text; the plain one has none. */
export interface Freedoms {
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

export class OddJson {
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
