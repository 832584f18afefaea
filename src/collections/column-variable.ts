// Variable objects, which a column store creates on demand instead of keeping one for each variable.
import type { Declaration, ManagedObject, Variable } from '../model.js';

/** A variable that refers to its declaration instead of copying it, to halve the memory that it takes. */
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
