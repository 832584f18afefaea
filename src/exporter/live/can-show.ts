// Whether a row can make series of a variable of some type.
import type { Row } from '../../catalogue/row.js';
import type { ValueType } from '../../model.js';

const NUMBERS: ReadonlySet<ValueType> = new Set(['u64', 'i64', 'f64', 'bool']);

export function canShow({ kind, family }: Pick<Row, 'kind' | 'family'>, type: ValueType): boolean {
  switch (kind) {
    case 'distribution':
      return type === family.type;
    // Made of the text of a value, also of a number.
    case 'info':
    case 'stateset':
    case 'timestamp':
      return type === 'string' || NUMBERS.has(type);
    case 'state':
      return true;
    default:
      return NUMBERS.has(type);
  }
}
