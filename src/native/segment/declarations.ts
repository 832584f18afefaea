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

interface Known {
  readonly fields: DeclarationFields;
  readonly declaration: Declaration;
}

/** Further declarations with one name are made for each record. */
const MAX_NAMESAKES = 8;

export class Declarations {
  readonly #strings: Strings;
  readonly #known = new WideMap<Known[]>();

  constructor(strings: Strings) {
    this.#strings = strings;
  }

  /**
   * What a record declares; undefined if its schema is not a list of ascending, finite numbers.
   * @throws Fault SEGMENT_CORRUPT for a string outside of its bounds
   */
  of(fields: DeclarationFields): Declaration | undefined {
    const namesakes = this.#known.get(fields.name) ?? [];
    for (const known of namesakes) if (isSame(known.fields, fields)) return known.declaration;
    const declaration = this.#read(fields);
    if (declaration === undefined || namesakes.length === MAX_NAMESAKES) return declaration;
    this.#known.set(fields.name, [...namesakes, { fields, declaration }]);
    return declaration;
  }

  #read({ type, kind, ...at }: DeclarationFields): Declaration | undefined {
    const schema = this.#strings.schema(at.schema, LIMITS.schemaEntries * 8);
    if (schema === undefined) return undefined;
    return {
      name: this.#strings.text(at.name, LIMITS.nameBytes, true),
      type,
      kind,
      unit: this.#strings.text(at.unit, MAX_UNIT_BYTES, true),
      help: this.#strings.text(at.help, LIMITS.helpBytes, true),
      schema,
    };
  }
}

const isSame = (a: DeclarationFields, b: DeclarationFields): boolean =>
  a.name === b.name &&
  a.unit === b.unit &&
  a.help === b.help &&
  a.schema === b.schema &&
  a.type === b.type &&
  a.kind === b.kind;
