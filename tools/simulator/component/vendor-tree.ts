// A served tree in the vendor's shape: plain data with the members of the JSON text.
import type { ObjectState } from '#app/model.js';
import type { ServedObject } from './served-tree.js';
import type { ServedVariable } from './served-value.js';
import { vendorType } from './vendor-types.js';

/** A bigint is an integer, a number is a fraction. */
export type VendorValue = bigint | number | boolean | string | null;

export interface VendorVariable {
  readonly Name: string;
  readonly Type: string;
  readonly Value: VendorValue;
}

export interface VendorObject {
  readonly Instance: string;
  readonly Class: string;
  readonly State?: string;
  readonly Variables: readonly VendorVariable[];
  readonly Children: readonly VendorObject[];
}

export const STATE_TEXTS: Readonly<Record<ObjectState, string>> = {
  init: 'Init',
  normal: 'Normal',
  manual_recovery: 'Manual Recovery',
  auto_recovery: 'Auto Recovery',
  dead: 'Dead',
  invalid: 'Invalid',
};

/** Normal objects have no `State`; histograms and summaries are left out. */
export function vendorObject({
  id,
  className,
  state,
  variables,
  children,
}: ServedObject): VendorObject {
  return {
    Instance: id,
    Class: className,
    ...(state !== 'normal' && { State: STATE_TEXTS[state] }),
    Variables: vendorVariables(variables),
    Children: Array.from(children, vendorObject),
  };
}

function vendorVariables(variables: Iterable<ServedVariable>): VendorVariable[] {
  const made: VendorVariable[] = [];
  for (const { name, type, kind, value } of variables) {
    const Type = vendorType(type, kind, value);
    if (Type !== undefined) made.push({ Name: name, Type, Value: value ?? null });
  }
  return made;
}
