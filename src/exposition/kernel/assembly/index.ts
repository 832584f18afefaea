// The kernel: compares copied slots and writes lines of exposition text, in linear memory.
// AssemblyScript; no allocation, no static data. Tables and addresses come from kernel.ts.

// A line of a block, 32 bytes; ../line-table.ts writes it.
//
//   0         4         8        12    16          24        28     32
//   +---------+---------+--------+-----+-----------+---------+------+
//   | text at | text    | value  | op  | last bits | length  | spare|
//   | u32     | len u32 | at u32 | u32 | u64       | u32     |      |
//   +---------+---------+--------+-----+-----------+---------+------+
//
// `value at` 0 means that the text is the whole line. `length` is the length of the value written
// last.
const LINE: usize = 32;

const PAIRS: usize = 64; // "00" to "99", 200 bytes
const SCALES: usize = 16; // address of the scales, pairs of doubles: multiply by the first, then divide by the second
const POW10: usize = 1024; // 617 entries of 16 bytes, high word first, exponents -292 to 324

const U64: u32 = 1;
const I64: u32 = 2;
const F64: u32 = 3;
const BOOL: u32 = 4;
const WRAPPED: u32 = 5;
const SCALED: u32 = 0x100;

/** Copies changed bytes in steps of 512; returns the number of steps that differed. */
export function absorb(current: usize, incoming: usize, bytes: usize): u32 {
  let steps: u32 = 0;
  for (let at: usize = 0; at < bytes; at += 512) {
    const end = min(at + 512, bytes);
    let differs: u64 = 0;
    for (let i = at; i < end; i += 8) differs |= load<u64>(current + i) ^ load<u64>(incoming + i);
    if (differs != 0) {
      memory.copy(current + at, incoming + at, end - at);
      steps++;
    }
  }
  return steps;
}

/** Lists the indexes of 4-byte words that differ, and copies them; at most `most` of them. */
export function changedWords(
  current: usize,
  incoming: usize,
  count: u32,
  out: usize,
  most: u32,
): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count && found < most; i++) {
    const offset = (<usize>i) << 2;
    // Mostly nothing changed: skip equal pairs.
    if (
      (i & 1) == 0 &&
      i + 1 < count &&
      load<u64>(incoming + offset) == load<u64>(current + offset)
    ) {
      i++;
      continue;
    }
    const word = load<u32>(incoming + offset);
    if (word == load<u32>(current + offset)) continue;
    store<u32>(current + offset, word);
    store<u32>(out + ((<usize>found) << 2), i);
    found++;
  }
  return found;
}

/** Watches of 16 bytes: address u32, spare, last bits u64. Lists the indexes that changed. */
export function changedWatches(table: usize, count: u32, out: usize): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const watch = table + ((<usize>i) << 4);
    const bits = load<u64>(<usize>load<u32>(watch));
    if (bits == load<u64>(watch, 8)) continue;
    store<u64>(watch, bits, 8);
    store<u32>(out + ((<usize>found) << 2), i);
    found++;
  }
  return found;
}

/** True if any line of a table has a value that differs from the one written last. */
export function isDirty(table: usize, count: u32): bool {
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) {
    const value = <usize>load<u32>(line, 8);
    if (value != 0 && load<u64>(value) != load<u64>(line, 16)) return true;
  }
  return false;
}

/** Writes all lines of a table to `to`; returns the bytes written. */
export function renderAll(table: usize, count: u32, to: usize): u32 {
  let at = to;
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) at = writeLine(line, at);
  return <u32>(at - to);
}

/** Rewrites changed lines and copies the spans between them from the last text at `from`. */
export function renderChanged(table: usize, count: u32, from: usize, to: usize): u32 {
  let at = to;
  let span = from;
  let read = from;
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) {
    const value = <usize>load<u32>(line, 8);
    const length = <usize>load<u32>(line, 24);
    if (value == 0 || load<u64>(value) == load<u64>(line, 16)) {
      read += length;
      continue;
    }
    if (read > span) {
      memory.copy(at, span, read - span);
      at += read - span;
    }
    at = writeLine(line, at);
    read += length;
    span = read;
  }
  if (read > span) {
    memory.copy(at, span, read - span);
    at += read - span;
  }
  return <u32>(at - to);
}

function writeLine(line: usize, to: usize): usize {
  const bytes = <usize>load<u32>(line, 4);
  memory.copy(to, <usize>load<u32>(line), bytes);
  let at = to + bytes;
  const value = <usize>load<u32>(line, 8);
  if (value != 0) {
    const bits = load<u64>(value);
    store<u64>(line, bits, 16);
    at = writeValue(bits, load<u32>(line, 12), at);
    store<u8>(at, 0x0a);
    at++;
  }
  store<u32>(line, <u32>(at - to), 24);
  return at;
}

/** Writes the text of one value; returns the address after it. At most 25 bytes. */
export function writeValue(bits: u64, op: u32, at: usize): usize {
  const kind = op & 0xff;
  if (op & SCALED) {
    const scale = <usize>load<u32>(SCALES) + ((<usize>(op >> 16)) << 4);
    return writeFloat((numberOf(bits, kind) * load<f64>(scale)) / load<f64>(scale, 8), at);
  }
  if (kind == U64) return writeInteger(bits, at);
  if (kind == F64) return writeFloat(reinterpret<f64>(bits), at);
  if (kind == BOOL) return writeInteger(bits != 0 ? 1 : 0, at);
  const signed = <i64>bits;
  if (signed >= 0) return writeInteger(bits, at);
  if (kind == WRAPPED && signed >= -0x100000000) return writeInteger(bits + 0x100000000, at);
  store<u8>(at, 0x2d);
  return writeInteger(0 - bits, at + 1);
}

function numberOf(bits: u64, kind: u32): f64 {
  if (kind == F64) return reinterpret<f64>(bits);
  if (kind == U64) return <f64>bits;
  if (kind == BOOL) return bits != 0 ? 1 : 0;
  const signed = <i64>bits;
  if (kind == WRAPPED && signed < 0 && signed >= -0x100000000) return <f64>(signed + 0x100000000);
  return <f64>signed;
}

function digitCount(n: u64): u32 {
  if (n < 10) return 1;
  if (n < 100) return 2;
  if (n < 1000) return 3;
  if (n < 10000) return 4;
  if (n < 100000) return 5;
  if (n < 1000000) return 6;
  if (n < 10000000) return 7;
  if (n < 100000000) return 8;
  if (n < 1000000000) return 9;
  if (n < 10000000000) return 10;
  return 10 + digitCount(n / 10000000000);
}

function writeInteger(n: u64, at: usize): usize {
  const end = at + digitCount(n);
  let p = end;
  while (n >= 0x100000000) {
    const q = n / 100;
    p -= 2;
    store<u16>(p, load<u16>(PAIRS + ((<usize>(n - q * 100)) << 1)));
    n = q;
  }
  let small = <u32>n;
  while (small >= 100) {
    const q = small / 100;
    p -= 2;
    store<u16>(p, load<u16>(PAIRS + ((<usize>(small - q * 100)) << 1)));
    small = q;
  }
  if (small >= 10) store<u16>(p - 2, load<u16>(PAIRS + ((<usize>small) << 1)));
  else store<u8>(p - 1, <u8>(0x30 + small));
  return end;
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
    // A decimal of at most 15 digits that reads back as x is the shortest one; no other is as short.
    if (x < 1e12) {
      const m = nearest(x * 1000);
      if (m / 1000 == x) return writeFixed(<u64>m, 1000, at);
      if (x < 1e9) {
        const u = nearest(x * 1000000);
        if (u / 1000000 == x) return writeFixed(<u64>u, 1000000, at);
      }
    }
  }
  return writeShortest(reinterpret<u64>(x), at);
}

/** Writes m / unit without trailing zeros; m is no multiple of unit. */
function writeFixed(m: u64, unit: u64, at: usize): usize {
  const whole = m / unit;
  let rest = m - whole * unit;
  at = writeInteger(whole, at);
  store<u8>(at, 0x2e);
  at++;
  while (unit > 1 && rest != 0) {
    unit /= 10;
    const digit = rest / unit;
    store<u8>(at, <u8>(0x30 + digit));
    at++;
    rest -= digit * unit;
  }
  return at;
}

// Shortest decimal of a double after Raffaele Giulietti, "The Schubfach way to render doubles" (2020).

let productLow: u64 = 0;

/** High half of a 128-bit product; the low half is left in productLow. */
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
  const h: i32 = q + ((-k * 1741647) >> 19) + 1;
  const entry = POW10 + ((<usize>(292 - k)) << 4);
  const gHigh = load<u64>(entry);
  const gLow = load<u64>(entry, 8);
  const lower = roundToOdd(gHigh, gLow, (4 * c - (closer ? 1 : 2)) << h) + odd;
  const middle = roundToOdd(gHigh, gLow, (4 * c) << h);
  const upper = roundToOdd(gHigh, gLow, (4 * c + 2) << h) - odd;
  const s = middle >> 2;
  if (s >= 10) {
    const tens = s / 10;
    const below = lower <= 40 * tens;
    const above = 40 * tens + 40 <= upper;
    if (below != above) return writeDecimal(above ? tens + 1 : tens, k + 1, at);
  }
  const under = lower <= 4 * s;
  const over = 4 * s + 4 <= upper;
  if (under != over) return writeDecimal(over ? s + 1 : s, k, at);
  const half = 4 * s + 2;
  const up = middle > half || (middle == half && (s & 1) != 0);
  return writeDecimal(up ? s + 1 : s, k, at);
}

/** Writes digits times 10^k the way JavaScript does. */
function writeDecimal(digits: u64, k: i32, at: usize): usize {
  while (digits % 10 == 0) {
    digits /= 10;
    k++;
  }
  const count = <i32>digitCount(digits);
  const point = k + count; // position of the decimal point, counted from the first digit
  if (k >= 0 && point <= 21) {
    at = writeInteger(digits, at);
    for (let i = 0; i < k; i++) store<u8>(at++, 0x30);
    return at;
  }
  if (point > 0 && point <= 21) {
    const end = writeInteger(digits, at);
    memory.copy(at + point + 1, at + point, count - point);
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
    memory.copy(at + 2, at + 1, count - 1);
    store<u8>(at + 1, 0x2e);
    tail++;
  }
  const e = point - 1;
  store<u8>(tail, 0x65);
  store<u8>(tail, e < 0 ? 0x2d : 0x2b, 1);
  return writeInteger(<u64>(e < 0 ? -e : e), tail + 2);
}
