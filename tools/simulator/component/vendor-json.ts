// The objects of a component in the shape and the JSON syntax of the vendor's programs.
import type { ObjectState, ValueType, VariableKind } from '#app/model.js';
import type { ServedObject, ServedValue, ServedVariable } from './served-tree.js';

/** The vendor's names of the types. */
export const VENDOR_TYPES = {
  counter: 'Counter',
  gauge: 'Gauge',
  number: 'Numeric',
  large: 'Large Numeric',
  flag: 'Boolean',
  text: 'String',
  /** A type that the vendor does not have. Readers must recognize a fraction by the JSON value, not by this name. */
  fraction: 'Floating',
} as const;

const MIN = -(2n ** 31n);
const MAX = 2n ** 31n - 1n;

/** The vendor's type of a variable; undefined if the vendor has no such type. */
export function vendorType(
  type: ValueType,
  kind: VariableKind,
  value: ServedValue | undefined,
): string | undefined {
  switch (type) {
    case 'bool':
      return VENDOR_TYPES.flag;
    case 'string':
      return VENDOR_TYPES.text;
    case 'f64':
      return VENDOR_TYPES.fraction;
    case 'u64':
    case 'i64':
      if (kind === 'counter') return VENDOR_TYPES.counter;
      if (kind === 'gauge') return VENDOR_TYPES.gauge;
      return typeof value === 'bigint' && (value < MIN || value > MAX)
        ? VENDOR_TYPES.large
        : VENDOR_TYPES.number;
    default:
      return undefined;
  }
}

/** A value in the JSON: a bigint is an integer, a number is a fraction. */
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

/** Converts an object. Omits `State` for normal objects, and omits histograms and summaries. */
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

/** The JSON of a value; `null` for NaN and infinities. */
export function valueJson(value: Exclude<VendorValue, string>): string {
  return typeof value === 'number' ? fractionText(value) : String(value);
}

/** The JSON of a fraction: `42.0` for 42, so that readers of the text do not mistake it for an integer. */
function fractionText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** The JSON of objects, without blanks. Recursion is safe: a `ServedTree` has at most 1000 levels. */
export const vendorJson = (objects: readonly VendorObject[]): string =>
  `[${objects.map(objectJson).join(',')}]`;

function objectJson({ Instance, Class, State, Variables, Children }: VendorObject): string {
  const variables = Variables.map(({ Name, Type, Value }) => {
    const value = typeof Value === 'string' ? JSON.stringify(Value) : valueJson(Value);
    return `{"Name":${JSON.stringify(Name)},"Type":"${Type}","Value":${value}}`;
  });
  const head = JSON.stringify({ Instance, Class, State }).slice(0, -1);
  return `${head},"Variables":[${variables.join(',')}],"Children":${vendorJson(Children)}}`;
}
