// The vendor's JSON text of a tree. Unlike JSON.stringify, it writes all digits of an integer.
import type { VendorObject, VendorValue, VendorVariable } from './vendor-tree.js';

/** The text without blanks, of one object or of a list. */
export const vendorJson = (content: VendorObject | readonly VendorObject[]): string =>
  'Instance' in content ? objectJson(content) : `[${content.map(objectJson).join(',')}]`;

/** Walks by recursion: a `ServedTree` is never too deep for it. */
function objectJson({ Instance, Class, State, Variables, Children }: VendorObject): string {
  const state = State === undefined ? '' : `"State":${quoted(State)},`;
  const names = `"Instance":${quoted(Instance)},"Class":${quoted(Class)},${state}`;
  const variables = Variables.map(variableJson).join(',');
  return `{${names}"Variables":[${variables}],"Children":[${Children.map(objectJson).join(',')}]}`;
}

const variableJson = ({ Name, Type, Value }: VendorVariable): string =>
  `{"Name":${quoted(Name)},"Type":${quoted(Type)},"Value":${valueJson(Value)}}`;

/** NaN and infinities are null. */
export function valueJson(value: VendorValue): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? fractionText(value) : String(value);
}

/** `42.0` for 42: readers that look at the text must not take it for an integer. */
function fractionText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const quoted = (text: string): string => JSON.stringify(text);
