// Parses schemas: JSON documents in which Varnish describes the values of a class of segments.
import { Fault } from '../errors.js';
import { isTable } from '../rules/table.js';
import { LIMITS, VALUE_BYTES } from './segment-index.js';

/** The description of one value. */
export interface SchemaField {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'bitmap';
  readonly unit: '' | 'bytes' | 'seconds';
  readonly help: string;
  /** The offset of the value in the body of a segment. */
  readonly at: number;
}

export interface Schema {
  /** The class of the segments that the schema describes, such as `vbe`. */
  readonly name: string;
  readonly fields: readonly SchemaField[];
  /** The size of a segment body with all values, in bytes. */
  readonly bodyBytes: number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const KINDS: Readonly<Record<string, SchemaField['kind']>> = {
  counter: 'counter',
  gauge: 'gauge',
  bitmap: 'bitmap',
};
const UNITS: Readonly<Record<string, SchemaField['unit']>> = {
  integer: '',
  bitmap: '',
  bytes: 'bytes',
  duration: 'seconds',
};
const MAX_HELP = 512;

/**
 * Parses a schema.
 * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE; the caller puts the schema name before the message
 */
export function parseSchema(json: string): Schema {
  const raw = parsed(json);
  if (!isTable(raw)) throw corrupt('is not a table');
  const { version, name, elem } = raw;
  if (version !== '1') throw new Fault('SEGMENT_INCOMPATIBLE', 'has a format version other than 1');
  if (typeof name !== 'string' || !NAME.test(name)) throw corrupt('has no name');
  if (!isTable(elem)) throw corrupt('has no table of values');
  const entries = Object.entries(elem);
  if (entries.length === 0 || entries.length > LIMITS.fields)
    throw corrupt(`describes ${entries.length} values`);
  const fields = entries.map(([key, value]) => fieldOf(key, value));
  if (new Set(fields.map(({ at }) => at)).size < fields.length)
    throw corrupt('has two values at one offset');
  const bodyBytes = Math.max(...fields.map(({ at }) => at)) + VALUE_BYTES;
  return { name, fields, bodyBytes };
}

function fieldOf(key: string, raw: unknown): SchemaField {
  if (!NAME.test(key)) throw corrupt('has a value without a name');
  if (!isTable(raw) || raw['name'] !== key) throw corrupt(`describes ${key} under another name`);
  const { type, ctype, format, oneliner, index: at } = raw;
  if (ctype !== 'uint64_t') throw corrupt(`has a value ${key} that is not an integer`);
  const kind = lookUp(KINDS, type);
  if (kind === undefined)
    throw corrupt(`describes ${key} with a type other than counter, gauge or bitmap`);
  const unit = lookUp(UNITS, format);
  if (unit === undefined)
    throw corrupt(`describes ${key} with a format other than integer, bytes, bitmap or duration`);
  if (typeof oneliner !== 'string') throw corrupt(`has no description of ${key}`);
  if (!isOffset(at))
    throw corrupt(
      `has ${key} at an offset that is not a multiple of ${VALUE_BYTES}, or is outside of a segment`,
    );
  return { name: key, kind, unit, help: oneliner.slice(0, MAX_HELP), at };
}

const isOffset = (at: unknown): at is number =>
  typeof at === 'number' &&
  Number.isInteger(at) &&
  at >= 0 &&
  at % VALUE_BYTES === 0 &&
  at <= LIMITS.bodyBytes - VALUE_BYTES;

const lookUp = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw corrupt('is no JSON');
  }
}

const corrupt = (what: string): Fault => new Fault('SEGMENT_CORRUPT', what);
