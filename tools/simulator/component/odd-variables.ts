// Oddities of single variables: the vendor has several spellings of a value.
import { choice, isChosen } from './choice.js';
import type { VendorVariable } from './vendor-tree.js';
import { VENDOR_TYPES } from './vendor-types.js';

/** `about` identifies the variable. */
export type OddVariable = (variable: VendorVariable, about: string) => VendorVariable;

const { counter, gauge, number, large, flag, text } = VENDOR_TYPES;

/** A 32-bit count above 2^31 is negative. */
export const wrapped: OddVariable = (variable) => {
  const { Type, Value } = variable;
  const isPast = typeof Value === 'bigint' && Value >= 2n ** 31n && Value < 2n ** 32n;
  return Type === counter && isPast ? { ...variable, Value: Value - 2n ** 32n } : variable;
};

/** Limits, twice the value, still have 64 bits. */
const LIMIT = 2n ** 62n;

/** A gauge with its limits in a text; sometimes without them. */
export const ranged: OddVariable = (variable, about) => {
  const { Name, Type, Value } = variable;
  const isFit = Type === gauge && typeof Value === 'bigint' && Value < LIMIT && Value > -LIMIT;
  if (!isFit || !isChosen(`range ${about}`, 2)) return variable;
  const isPlain = isChosen(`plain range ${about}`, 4);
  const least = Value < 0n ? Value * 2n : 0n;
  const most = Value > 50n ? Value * 2n : 100n;
  return {
    Name,
    Type: 'Numeric Range',
    Value: isPlain ? Value : `${Value} (${least}..${most})`,
  };
};

const CONFIGURED: readonly string[] = [flag, gauge, number, text];

/** Types of variables that are settings have a suffix. */
export const configured: OddVariable = (variable, about) =>
  CONFIGURED.includes(variable.Type) && isChosen(`config ${about}`, 3)
    ? { ...variable, Type: `${variable.Type} Config` }
    : variable;

const TELLING: readonly string[] = [flag, text, number, large];

/** An unknown type, where the JSON value says as much as the type did. */
export const strange: OddVariable = (variable, about) =>
  TELLING.includes(variable.Type) && variable.Value !== null && isChosen(`strange ${about}`, 4)
    ? { ...variable, Type: 'Exotic Thing' }
    : variable;

/** A text that is a number, written as one. */
export const numeric: OddVariable = (variable, about) => {
  const { Type, Value } = variable;
  const isText = Type === text || Type === `${text} Config`;
  if (!isText || typeof Value !== 'string' || choice(`number ${about}`, 3) > 1) return variable;
  return /^(0|-?[1-9]\d{0,18})$/.test(Value) ? { ...variable, Value: BigInt(Value) } : variable;
};
