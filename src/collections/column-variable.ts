// A variable that is created on demand from columns.
import type { Declaration, ManagedObject, Variable } from '../model.js';

/** A variable that reads its declaration through getters, in half the memory of a copy. */
export class ColumnVariable implements Variable {
  readonly object: ManagedObject;
  readonly id: number;
  readonly slot: number;
  readonly incarnation: number;
  readonly declaration: Declaration;

  constructor(
    object: ManagedObject,
    id: number,
    slot: number,
    incarnation: number,
    declaration: Declaration,
  ) {
    this.object = object;
    this.id = id;
    this.slot = slot;
    this.incarnation = incarnation;
    this.declaration = declaration;
  }

  get name() {
    return this.declaration.name;
  }
  get type() {
    return this.declaration.type;
  }
  get kind() {
    return this.declaration.kind;
  }
  get unit() {
    return this.declaration.unit;
  }
  get help() {
    return this.declaration.help;
  }
  get schema() {
    return this.declaration.schema;
  }
}
