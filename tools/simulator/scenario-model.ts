// A scenario: the objects to publish and the steps to play.
import type { ObjectState, ValueType, VariableKind } from '#app/model.js';

export type ScenarioValue =
  | number
  | bigint
  | boolean
  | string
  | { readonly bounds: readonly number[]; readonly counts: readonly bigint[]; readonly sum: number }
  | {
      /** Quantile and value, ascending. */
      readonly quantiles: readonly (readonly [number, number])[];
      readonly count: bigint;
      readonly sum: number;
    };

export interface ScenarioVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
  /** Undefined: it exists and is not yet synced. */
  readonly value: ScenarioValue | undefined;
}

export interface ScenarioObject {
  readonly id: string;
  readonly parent: string | undefined;
  readonly className: string;
  readonly state: ObjectState;
  readonly synced: boolean;
  readonly variables: readonly ScenarioVariable[];
}

export interface ScenarioStep {
  readonly afterMs: number;
  /** Object id, variable name, value. */
  readonly set: readonly (readonly [string, string, unknown])[];
  readonly add: readonly ScenarioObject[];
  readonly remove: readonly string[];
  readonly sync: readonly string[];
  readonly state: readonly (readonly [string, ObjectState])[];
  readonly exit: 'clean' | 'kill' | undefined;
}

export interface Scenario {
  readonly contextId: string | undefined;
  readonly poolName: string | undefined;
  readonly serverKey: string | undefined;
  readonly objects: readonly ScenarioObject[];
  readonly steps: readonly ScenarioStep[];
  readonly repeat: boolean;
}
