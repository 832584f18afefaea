// Where simulated objects are published: a segment, or a tree that is served as JSON.
import type { ObjectState, ValueType } from '../model.js';
import type {
  ObjectOptions,
  PublishedObject,
  VariableOptions,
} from '../native/publisher/publisher-options.js';
import type { PublishedValues } from '../native/publisher/published-values.js';

/** What a simulation needs of a variable's handle: it stores values and says whether it is kept. */
export type ValueHandles = {
  readonly [T in ValueType]: Omit<PublishedValues[T], 'place' | 'unset'>;
};
export type ValueHandle = ValueHandles[ValueType];

/** What a simulation needs of a publisher; `Publisher` of a segment is one. */
export interface ObjectPublisher {
  addRoot(name: string, className: string, options?: ObjectOptions): PublishedObject;
  addObject(
    parent: PublishedObject,
    name: string,
    className: string,
    options?: ObjectOptions,
  ): PublishedObject;
  /** Adds a variable; its first value syncs it, and `options.synced` says what it is before. */
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
  /** Says that a batch of stores is complete. */
  notify(): void;
}
