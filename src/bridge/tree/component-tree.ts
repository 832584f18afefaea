// The tree of a component: its objects and variables at one poll.
import type { ObjectState, VariableKind } from '../../model.js';
import type { TypedValue } from './vendor-types.js';

export interface ComponentVariable {
  readonly name: string;
  readonly kind: VariableKind;
  readonly value: TypedValue;
}

export interface ComponentObject {
  readonly id: string;
  readonly className: string;
  readonly state: ObjectState;
  /** Undefined for a root. */
  readonly parent: ComponentObject | undefined;
  readonly variables: ReadonlyMap<string, ComponentVariable>;
}

/** The irregular items of a tree, each with its treatment. */
export const ODDITIES = {
  duplicate_objects: 'objects left out because an earlier one has the same Instance',
  duplicate_variables: 'variables replaced by a later one of the same name in the same object',
  unusable_objects: 'objects left out, with all below them: no Instance, or one beyond 1024 bytes',
  unusable_variables: 'variables left out: no Name, or one beyond 1024 bytes',
  unusable_values: 'variables left out: no value, or none that fits their type',
  unknown_types: 'variables of unknown type, published as their JSON value says',
} as const satisfies Readonly<Record<string, string>>;

export type Oddity = keyof typeof ODDITIES;

export interface ComponentTree {
  /** Parents before their children, by id. */
  readonly objects: ReadonlyMap<string, ComponentObject>;
  readonly variableCount: number;
  readonly oddities: Readonly<Record<Oddity, number>>;
  /** Names of unknown types, the first few. */
  readonly unknownTypes: readonly string[];
}
