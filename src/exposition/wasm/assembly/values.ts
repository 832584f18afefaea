// Writes the text of values.
import {
  LOWEST_EXPONENT,
  OPCODE_BOOL,
  OPCODE_F64,
  OPCODE_U64,
  OPCODE_WRAP32,
  POWERS_AT,
  POWER_BYTES,
  SCALED,
  SCALES_POINTER,
  SCALE_BYTES,
  SCALE_SHIFT,
} from '../layout';

/** A relative difference that exceeds the error of two roundings to 53 bits. */
const NEAR: f64 = 1e-15;

const ASCII: u64 = 0x3030303030303030;
const HIGHEST_BIT: u64 = 0x8000000000000000;

/** Writes the text of one value, at most 25 bytes; returns the address after it. Overwrites up to 16 bytes after it. */
export function writeValue(bits: u64, opcode: u32, at: usize): usize {
  const kind = opcode & 0xff;
  if (opcode & SCALED) return writeFloat(scaledNumberOf(bits, opcode), at);
  if (kind == OPCODE_U64) return writeInteger(bits, at);
  if (kind == OPCODE_F64) return writeFloat(reinterpret<f64>(bits), at);
  if (kind == OPCODE_BOOL) return writeInteger(bits != 0 ? 1 : 0, at);
  const signed = <i64>bits;
  if (signed >= 0) return writeInteger(bits, at);
  if (kind == OPCODE_WRAP32 && signed >= -0x100000000) return writeInteger(bits + 0x100000000, at);
  store<u8>(at, 0x2d);
  return writeInteger(0 - bits, at + 1);
}

/** The number that a line shows; 64-bit integers are rounded. */
export function scaledNumberOf(bits: u64, opcode: u32): f64 {
  const number = numberOf(bits, opcode & 0xff);
  if ((opcode & SCALED) == 0) return number;
  const scale = <usize>load<u32>(SCALES_POINTER) + <usize>(opcode >> SCALE_SHIFT) * SCALE_BYTES;
  return (number * load<f64>(scale)) / load<f64>(scale, 8);
}

export function numberOf(bits: u64, kind: u32): f64 {
  if (kind == OPCODE_F64) return reinterpret<f64>(bits);
  if (kind == OPCODE_U64) return <f64>bits;
  if (kind == OPCODE_BOOL) return bits != 0 ? 1 : 0;
  const signed = <i64>bits;
  if (kind == OPCODE_WRAP32 && signed < 0 && signed >= -0x100000000)
    return <f64>(signed + 0x100000000);
  return <f64>signed;
}

/** The digits of a number below 10^8, one per byte, with the highest digit in the lowest byte. */
function digitsOf(n: u32): u64 {
  const high = n / 10000;
  const fours = (<u64>high) | ((<u64>(n - high * 10000)) << 32);
  // Divide all parts at once by 100, then by 10. The results are exact, since the numbers are small.
  const hundreds = ((fours * 10486) >> 20) & 0x7f0000007f;
  const twos = hundreds + ((fours - hundreds * 100) << 16);
  const tens = ((twos * 103) >> 10) & 0x000f000f000f000f;
  return tens + ((twos - tens * 10) << 8);
}

/** Writes a whole number. Overwrites up to 7 bytes after it. */
function writeInteger(n: u64, at: usize): usize {
  if (n < 100_000_000) return writeSmall(<u32>n, at);
  const high = n / 100_000_000;
  at = high <= 0xffffffff ? writeWord(<u32>high, at) : writeInteger(high, at);
  return writeEight(<u32>(n - high * 100_000_000), at);
}

/** Writes a 32-bit number, which is divided faster than a 64-bit number. */
function writeWord(n: u32, at: usize): usize {
  if (n < 100_000_000) return writeSmall(n, at);
  const high = n / 100_000_000;
  return writeEight(n - high * 100_000_000, writeSmall(high, at));
}

/** Writes a number below 10^8. */
function writeSmall(n: u32, at: usize): usize {
  const digits = digitsOf(n);
  // Set the highest bit, so that the last digit is written even if it is 0.
  const zeros = ctz(digits | HIGHEST_BIT) & 0x38;
  store<u64>(at, (digits | ASCII) >> zeros);
  return at + 8 - <usize>(zeros >> 3);
}

/** Writes all eight digits of a number below 10^8. */
function writeEight(n: u32, at: usize): usize {
  store<u64>(at, digitsOf(n) | ASCII);
  return at + 8;
}

/** The number of decimal digits, at most 17. */
function digitCount(n: u64): u32 {
  if (n >= 1_000_000_000_000_000) return n >= 10_000_000_000_000_000 ? 17 : 16;
  let count: u32 = 1;
  for (; n >= 10_000; n /= 10_000) count += 4;
  return count + (n >= 10 ? 1 : 0) + (n >= 100 ? 1 : 0) + (n >= 1000 ? 1 : 0);
}

function writeFloat(x: f64, at: usize): usize {
  const bits = reinterpret<u64>(x);
  if (((bits >> 52) & 0x7ff) == 0x7ff) {
    if (x != x) {
      store<u16>(at, 0x614e); // Na
      store<u8>(at, 0x4e, 2);
      return at + 3;
    }
    store<u8>(at, x > 0 ? 0x2b : 0x2d);
    store<u16>(at, 0x6e49, 1); // In
    store<u8>(at, 0x66, 3);
    return at + 4;
  }
  if (bits >> 63) {
    store<u8>(at, 0x2d);
    at++;
    x = -x;
  }
  if (x < 9007199254740992) {
    const whole = trunc(x);
    if (whole == x) return writeInteger(<u64>x, at);
    // If a decimal of at most 15 digits reads back as x, it is the only shortest one. A comparison without a division
    // shows that most other numbers are far from such a decimal.
    if (x < 1e12) {
      const thousands = x * 1000;
      const m = nearest(thousands);
      if (abs(thousands - m) <= thousands * NEAR && m / 1000 == x)
        return writeFixed(<u64>m / 1000, <u32>(<u64>m % 1000) * 100_000, at);
      if (x < 1e9) {
        const millions = x * 1000000;
        const u = nearest(millions);
        if (abs(millions - u) <= millions * NEAR && u / 1000000 == x)
          return writeFixed(<u64>u / 1_000_000, <u32>(<u64>u % 1_000_000) * 100, at);
      }
    }
  }
  return writeShortest(reinterpret<u64>(x), at);
}

/** Writes the decimal of `whole` and `parts` hundred-millionths, without trailing zeros. `parts` is not 0. */
function writeFixed(whole: u64, parts: u32, at: usize): usize {
  at = writeInteger(whole, at);
  store<u8>(at, 0x2e);
  const digits = digitsOf(parts);
  store<u64>(at, digits | ASCII, 1);
  return at + 9 - <usize>(clz(digits) >> 3);
}

// Shortest decimal of a double after Raffaele Giulietti, "The Schubfach way to render doubles" (2020).

let productLow: u64 = 0;

/** Returns the high half of a 128-bit product, and stores the low half in `productLow`. */
function multiply(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const low = aLow * bLow;
  const mid1 = aHigh * bLow + (low >> 32);
  const mid2 = aLow * bHigh + (mid1 & 0xffffffff);
  productLow = (mid2 << 32) | (low & 0xffffffff);
  return aHigh * bHigh + (mid1 >> 32) + (mid2 >> 32);
}

function roundToOdd(gHigh: u64, gLow: u64, cp: u64): u64 {
  const x = multiply(gLow, cp);
  let high = multiply(gHigh, cp);
  const low = productLow + x;
  if (low < x) high++;
  return high | (low > 1 ? 1 : 0);
}

function writeShortest(bits: u64, at: usize): usize {
  const fraction = bits & 0xfffffffffffff;
  const exponent = <i32>(bits >> 52);
  const c: u64 = exponent != 0 ? fraction | 0x10000000000000 : fraction;
  const q: i32 = exponent != 0 ? exponent - 1075 : -1074;
  const odd: u64 = c & 1;
  const closer = fraction == 0 && exponent > 1;
  const k: i32 = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
  const h = <u64>(q + ((-k * 1741647) >> 19) + 1);
  const entry = <usize>(-k - LOWEST_EXPONENT) * POWER_BYTES + POWERS_AT;
  const gHigh = load<u64>(entry);
  const gLow = load<u64>(entry, 8);
  const lower = roundToOdd(gHigh, gLow, (4 * c - (closer ? 1 : 2)) << h) + odd;
  const middle = roundToOdd(gHigh, gLow, (4 * c) << h);
  const upper = roundToOdd(gHigh, gLow, (4 * c + 2) << h) - odd;
  const s = middle >> 2;
  // Branches would be mispredicted here, since the choice changes from value to value.
  const tens = s / 10;
  const below = <u64>(lower <= 40 * tens);
  const above = <u64>(40 * tens + 40 <= upper);
  const isShorter = (below ^ above) & (<u64>(s >= 10));
  const under = <u64>(lower <= 4 * s);
  const over = <u64>(4 * s + 4 <= upper);
  const half = 4 * s + 2;
  const isNearer = (<u64>(middle > half)) | ((<u64>(middle == half)) & s & 1);
  const digits = s + chosen(under ^ over, over, isNearer);
  return writeStripped(chosen(isShorter, tens + above, digits), k + <i32>isShorter, at);
}

/** Selects one of two numbers without a branch. */
function chosen(isFirst: u64, first: u64, second: u64): u64 {
  return second ^ ((first ^ second) & (0 - isFirst));
}

/** Writes a decimal without trailing zeros. */
function writeStripped(digits: u64, k: i32, at: usize): usize {
  for (; isMultipleOfTen(digits); k++) digits /= 10;
  return writeDecimal(digits, k, at);
}

/**
 * Whether a number is a multiple of 10: if so, the number times the inverse of 5 modulo 2^64, rotated by one bit, is
 * small.
 */
function isMultipleOfTen(n: u64): bool {
  return rotr<u64>(n * 0xcccccccccccccccd, 1) <= u64.MAX_VALUE / 10;
}

/** Writes the number `digits` * 10^k in JavaScript's notation. The last digit of `digits` must not be 0. */
function writeDecimal(digits: u64, k: i32, at: usize): usize {
  const count = <i32>digitCount(digits);
  const point = k + count; // position of the decimal point, counted from the first digit
  if (k >= 0 && point <= 21) {
    at = writeInteger(digits, at);
    for (let i = 0; i < k; i++) store<u8>(at++, 0x30);
    return at;
  }
  if (point > 0 && point <= 21) {
    const end = writeInteger(digits, at);
    v128.store(at + point + 1, v128.load(at + point));
    store<u8>(at + point, 0x2e);
    return end + 1;
  }
  if (point > -6 && point <= 0) {
    store<u16>(at, 0x2e30);
    at += 2;
    for (let i = point; i < 0; i++) store<u8>(at++, 0x30);
    return writeInteger(digits, at);
  }
  const end = writeInteger(digits, at);
  let tail = end;
  if (count > 1) {
    v128.store(at + 2, v128.load(at + 1));
    store<u8>(at + 1, 0x2e);
    tail++;
  }
  const e = point - 1;
  store<u8>(tail, 0x65);
  store<u8>(tail, e < 0 ? 0x2d : 0x2b, 1);
  return writeInteger(<u64>(e < 0 ? -e : e), tail + 2);
}
