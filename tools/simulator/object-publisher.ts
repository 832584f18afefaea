// The target of simulated objects: a segment, or a tree that is served as JSON.
import type { ObjectState, ValueType } from '#app/model.js';
import type {
  ObjectOptions,
  PublishedObject,
  VariableOptions,
} from '#app/native/publisher/publisher-options.js';
import type { PublishedValues } from '#app/native/publisher/published-values.js';

/** The part of a variable's handle that a simulation needs. */
export type ValueHandles = {
  readonly [T in ValueType]: Omit<PublishedValues[T], 'place' | 'unset'>;
};
export type ValueHandle = ValueHandles[ValueType];

/** The part of a publisher that a simulation needs; the `Publisher` of a segment has it. */
export interface ObjectPublisher {
  addRoot(name: string, className: string, options?: ObjectOptions): PublishedObject;
  addObject(
    parent: PublishedObject,
    name: string,
    className: string,
    options?: ObjectOptions,
  ): PublishedObject;
  /** Adds a variable; its first value syncs it; `options.synced` is its state before. */
  addVariable<T extends ValueType>(
    object: PublishedObject,
    name: string,
    type: T,
    options?: VariableOptions,
  ): ValueHandles[T];
  setState(object: PublishedObject, state: ObjectState): boolean;
  setSynced(object: PublishedObject): boolean;
  removeObject(object: PublishedObject): void;
  removeVariable(value: Pick<ValueHandle, 'ref'>): void;
  /** Marks the end of a batch of stores. */
  notify(): void;
}
