// Which type a published variable keeps if its value would fit another.
import type { ValueType } from '../../model.js';
import type { TypedValue } from '../tree/vendor-types.js';

const I64_END = 2n ** 63n;

/** The `present` type if it holds the value exactly, else the value's own. */
export function typeFor({ type, value }: TypedValue, present: ValueType): ValueType {
  if (type === present || typeof value === 'string' || typeof value === 'boolean') return type;
  if (present === 'f64' && typeof value === 'number') return present;
  if (type === 'f64') return type;
  if (present === 'u64' && value >= 0) return present;
  if (present === 'i64' && value < I64_END) return present;
  return type;
}
