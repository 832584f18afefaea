// What records say of variables: those that say the same share one declaration.
import { WideMap } from '../../collections/wide-map.js';
import type { Declaration } from '../../model.js';
import { LIMITS, MAX_UNIT_BYTES } from './layout.js';

/** The strings of a directory. */
interface Strings {
  text(offset: number, most: number, keep: boolean): string;
  schema(offset: number, most: number): readonly number[] | undefined;
}

/** Where a record's strings are, and what else it says. */
export interface DeclarationFields extends Pick<Declaration, 'type' | 'kind'> {
  readonly name: number;
  readonly unit: number;
  readonly help: number;
  readonly schema: number;
}

/** A declaration, and where its strings are. Those with one name follow each other. */
interface Known {
  readonly unit: number;
  readonly help: number;
  readonly schema: number;
  readonly declaration: Declaration;
  readonly next: Known | undefined;
  /** Of those from here on. */
  readonly count: number;
}

/** Further declarations with one name are made for each record. */
const MAX_NAMESAKES = 8;

export class Declarations {
  readonly #strings: Strings;
  readonly #known = new WideMap<Known>();

  constructor(strings: Strings) {
    this.#strings = strings;
  }

  /**
   * What a record declares; undefined if its schema is not a list of ascending, finite numbers.
   * @throws Fault SEGMENT_CORRUPT for a string outside of its bounds
   */
  of(fields: DeclarationFields): Declaration | undefined {
    const first = this.#known.get(fields.name);
    for (let known = first; known !== undefined; known = known.next)
      if (isSame(known, fields)) return known.declaration;
    const declaration = this.#read(fields, first?.declaration.name);
    const count = 1 + (first?.count ?? 0);
    if (declaration === undefined || count > MAX_NAMESAKES) return declaration;
    const { name, unit, help, schema } = fields;
    this.#known.set(name, { unit, help, schema, declaration, next: first, count });
    return declaration;
  }

  /** Names are kept here: with others, `text()` would keep them twice. */
  #read(at: DeclarationFields, name: string | undefined): Declaration | undefined {
    const schema = this.#strings.schema(at.schema, LIMITS.schemaEntries * 8);
    if (schema === undefined) return undefined;
    const { type, kind } = at;
    return {
      name: name ?? this.#strings.text(at.name, LIMITS.nameBytes, false),
      type,
      kind,
      unit: this.#strings.text(at.unit, MAX_UNIT_BYTES, true),
      help: this.#strings.text(at.help, LIMITS.helpBytes, true),
      schema,
    };
  }
}

const isSame = (known: Known, fields: DeclarationFields): boolean =>
  known.unit === fields.unit &&
  known.help === fields.help &&
  known.schema === fields.schema &&
  known.declaration.type === fields.type &&
  known.declaration.kind === fields.kind;
