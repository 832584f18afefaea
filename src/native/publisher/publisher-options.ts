// Options of a publisher, its objects and its variables, and their validation.
import { OBJECT_STATES, VALUE_TYPES, schemaOf } from '../../published.js';
import type { ObjectState, SlotRef, ValueType, VariableKind } from '../../published.js';
import { LIMITS, MAX_UNIT_BYTES, VARIABLE_KINDS } from '../segment/layout.js';
import type { Capacity } from './allocators.js';

export interface PublisherOptions {
  /** Default `shmApp`. */
  readonly contextId?: string;
  /** Default `pool`. */
  readonly poolName?: string;
  readonly serverKey: string;
  readonly capacity?: Partial<Capacity>;
  /** Milliseconds between heartbeats; 0 for none. Default 1000. */
  readonly heartbeatMs?: number;
  /** Permission bits of the file. Default 0644. */
  readonly mode?: number;
  /** Whether `place()` throws SEGMENT_BUSY, rather than wait, while another live publisher has the server key. Default false. */
  readonly failIfBusy?: boolean;
  /** Gets a sentence when the publisher begins to wait for its server key. Default: writes it to stderr. */
  readonly warn?: (sentence: string) => void;
  /** Default: the pid of this process. */
  readonly pid?: number;
  /** CLOCK_REALTIME in ns. Default: the system's. */
  readonly realtimeNs?: () => bigint;
}

export interface ObjectOptions {
  /** Default `normal`. */
  readonly state?: ObjectState;
  /** Default true. */
  readonly synced?: boolean;
  /** Whether the id comes from elsewhere, so that it need not begin with the parent's id. Default false. */
  readonly foreignId?: boolean;
}

export interface VariableOptions {
  readonly kind?: VariableKind;
  readonly unit?: string;
  readonly help?: string;
  /** Upper bounds of a histogram's buckets without +Inf, or quantiles of a summary; ascending. */
  readonly schema?: readonly number[];
  /** The maximum number of bytes of a text. Default 64. */
  readonly textBytes?: number;
  /**
   * Whether the variable starts with a value: 0, false, an empty text, or no observations. Default: true for
   * histograms and summaries, false for other types.
   */
  readonly synced?: boolean;
}

/** An object of a publisher. `id` is 0 if the segment had no room for it. */
export interface PublishedObject {
  readonly id: number;
  /** Its object id, such as `host.1.shop.till`. */
  readonly name: string;
  readonly ref: SlotRef | undefined;
  readonly parent: PublishedObject | undefined;
  readonly asOf: SlotRef | undefined;
}

/** @throws RangeError for anything but a text of at most `most` bytes of UTF-8 */
export function checkText(what: string, text: unknown, most: number): void {
  if (typeof text !== 'string')
    throw new RangeError(`${what} is ${String(text)}, a text is allowed`);
  // A UTF-16 unit is at most three bytes, so most texts need no count.
  if (text.length * 3 <= most) return;
  const bytes = utf8Bytes(text);
  if (bytes > most) throw new RangeError(`${what} has ${bytes} bytes, ${most} are allowed`);
}

/** @throws RangeError unless an id is its parent's id, a dot, and at least one more character */
export function checkId(id: string, parentId: string): void {
  if (!id.startsWith(`${parentId}.`) || id.length < parentId.length + 2)
    throw new RangeError(
      `Object id "${id}" is below "${parentId}", so it must begin with "${parentId}." and go on`,
    );
}

/** The number of a management state. @throws RangeError if there is no such state */
export function stateNumber(state: ObjectState): bigint {
  checkOneOf('State', state, OBJECT_STATES);
  return BigInt(OBJECT_STATES.indexOf(state));
}

/** @throws RangeError unless the value is one of the names; a caller in JavaScript may pass any value */
function checkOneOf(what: string, value: unknown, names: readonly string[]): void {
  if (typeof value === 'string' && names.includes(value)) return;
  throw new RangeError(`${what} is ${String(value)}, ${names.join(', ')} are allowed`);
}

/** @throws RangeError for a variable that the format does not allow */
export function checkVariable(name: string, type: ValueType, options: VariableOptions): void {
  const { kind = 'unknown', unit = '', help = '', schema = [], textBytes = 64 } = options;
  checkOneOf('Type', type, Object.keys(VALUE_TYPES));
  checkOneOf('Kind', kind, VARIABLE_KINDS);
  checkText('Variable name', name, LIMITS.nameBytes);
  checkText('Unit', unit, MAX_UNIT_BYTES);
  checkText('Help', help, LIMITS.helpBytes);
  if (schema.length > LIMITS.schemaEntries)
    throw new RangeError(`${schema.length} schema entries, ${LIMITS.schemaEntries} are allowed`);
  if (schema.length > 0) checkSchema(type, schema);
  if (!Number.isInteger(textBytes) || textBytes < 0 || textBytes > LIMITS.textBytes)
    throw new RangeError(`A text of ${textBytes} bytes, 0 to ${LIMITS.textBytes} are allowed`);
}

function checkSchema(type: ValueType, schema: readonly number[]): void {
  const found = `found ${schema.join(', ')}`;
  const meaning = schemaOf(type);
  if (meaning === undefined) throw new RangeError(`A ${type} has no schema, ${found}`);
  if (!schema.every(Number.isFinite))
    throw new RangeError(`Schema entries must be finite, without +Inf, ${found}`);
  if (schema.some((entry, i) => i > 0 && entry <= (schema[i - 1] ?? entry)))
    throw new RangeError(`Schema entries must ascend, ${found}`);
  if (meaning === 'quantiles' && schema.some((quantile) => quantile < 0 || quantile > 1))
    throw new RangeError(`Quantiles must be from 0 to 1, ${found}`);
}

const encoder = new TextEncoder();
const utf8Bytes = (text: string): number => encoder.encode(text).length;
