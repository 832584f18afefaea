// Parses the JSON of a component into objects and values, whatever the formatting of the JSON.
import { parseExactly } from './exact-json.js';
import type { ExactJson } from './exact-json.js';

/** The kind of a variable, which its vendor type implies, and its value; null if the variable has no value. */
export interface ReadVariable {
  readonly kind: 'counter' | 'gauge' | 'unknown';
  readonly value: bigint | number | boolean | string | null;
}

export interface ReadObject {
  readonly className: string;
  readonly parent: string | undefined;
  readonly state: string;
  readonly variables: ReadonlyMap<string, ReadVariable>;
}

const STATES = ['Init', 'Normal', 'Manual Recovery', 'Auto Recovery', 'Dead', 'Invalid'];

/** Returns the objects by id in the order of the text, so parents precede their children. */
export function readComponent(text: string): ReadonlyMap<string, ReadObject> {
  const objects = new Map<string, ReadObject>();
  const read = (json: ExactJson, parent: string | undefined): void => {
    const id = textOf(member(json, 'Instance'));
    // If several objects have the same id, the first one and its descendants win.
    if (objects.has(id)) return;
    const state = member(json, 'State');
    const className = textOf(member(json, 'Class'));
    objects.set(id, {
      className,
      parent,
      state: STATES.find((each) => each === state) ?? 'Normal',
      variables: variablesOf(member(json, 'Variables')),
    });
    for (const child of listOf(member(json, 'Children'))) read(child, id);
  };
  for (const root of listOf(parseExactly(text))) read(root, undefined);
  return objects;
}

function variablesOf(json: ExactJson | undefined): ReadonlyMap<string, ReadVariable> {
  const variables = new Map<string, ReadVariable>();
  // If several variables have the same name, the last one wins.
  for (const each of listOf(json))
    variables.set(
      textOf(member(each, 'Name')),
      variableOf(textOf(member(each, 'Type')), member(each, 'Value')),
    );
  return variables;
}

function variableOf(vendorType: string, json: ExactJson | undefined): ReadVariable {
  const type = vendorType.replace(/ Config$/, '');
  const kind =
    type === 'Counter'
      ? 'counter'
      : type === 'Gauge' || type === 'Numeric Range'
        ? 'gauge'
        : 'unknown';
  if (json === undefined || json instanceof Map || Array.isArray(json))
    throw new TypeError(`No value of ${type}`);
  return { kind, value: json === null ? null : parsedValue(type, json) };
}

function parsedValue(
  type: string,
  json: bigint | number | boolean | string,
): ReadVariable['value'] {
  if (type === 'Counter' && typeof json === 'bigint') return json < 0n ? json + 2n ** 32n : json;
  if (type === 'Numeric Range' && typeof json === 'string')
    return BigInt(/^(-?\d+) \(-?\d+\.\.-?\d+\)$/.exec(json)?.[1] ?? 'no range');
  if (type === 'String') return String(json);
  return json;
}

function member(json: ExactJson, name: string): ExactJson | undefined {
  if (json instanceof Map) return json.get(name);
  throw new TypeError(`Expected an object with ${name}`);
}

function textOf(json: ExactJson | undefined): string {
  if (typeof json === 'string') return json;
  throw new TypeError('Expected a text');
}

function listOf(json: ExactJson | undefined): readonly ExactJson[] {
  if (json === undefined || json === null) return [];
  if (Array.isArray(json)) return json;
  throw new TypeError('Expected a list');
}
