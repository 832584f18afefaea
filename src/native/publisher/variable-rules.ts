// The rules of the format for objects and variables; a publisher rejects anything else.
import { schemaOf } from '../../published.js';
import type { ValueType } from '../../published.js';
import { LIMITS, MAX_UNIT_BYTES } from '../segment/layout.js';
import type { VariableOptions } from './publisher-options.js';

/** @throws RangeError for a text that is longer than `most` bytes of UTF-8 */
export function checkText(what: string, text: string, most: number): void {
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

/** @throws RangeError for a variable that the format does not allow */
export function checkVariable(name: string, type: ValueType, options: VariableOptions): void {
  const { unit = '', help = '', schema = [], textBytes = 64 } = options;
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
