// The vendor's type names, by our types.
import type { ValueType, VariableKind } from '#app/model.js';
import type { ServedValue } from './served-value.js';

export const VENDOR_TYPES = {
  counter: 'Counter',
  gauge: 'Gauge',
  number: 'Numeric',
  large: 'Large Numeric',
  flag: 'Boolean',
  text: 'String',
  /** Not a vendor type: the vendor has no fractions, so readers must use the JSON type. */
  fraction: 'Floating',
} as const;

const MIN = -(2n ** 31n);
const MAX = 2n ** 31n - 1n;

/** Undefined if the vendor has no such type. */
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
