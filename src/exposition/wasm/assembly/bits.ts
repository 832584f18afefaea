// Bits of a deflate stream, lowest first. A bit address is a byte address times 8, plus the number of the bit in the
// byte. RFC 1951, 3.1.1.

/** For at most this many bits, copying without alignment is faster. */
const SHORT_BITS: u64 = 448;

/** Writes up to 56 bits at a bit address; returns the address after them. */
export function put(at: u64, bits: u64, count: u32): u64 {
  const byte = <usize>(at >> 3);
  const used = at & 7;
  store<u64>(byte, ((<u64>load<u8>(byte)) & ((1 << used) - 1)) | (bits << used));
  return at + count;
}

/** Copies the bits from `from` to `end` to the bit address `at`; returns the address after them. */
export function copyBits(at: u64, from: u64, end: u64): u64 {
  if (end - from <= SHORT_BITS) {
    for (; end - from > 56; from += 56) at = put(at, bitsAt(from, 56), 56);
    return put(at, bitsAt(from, end - from), <u32>(end - from));
  }
  // Align the destination to a byte, then copy whole words.
  const first = min<u64>(end - from, (8 - (at & 7)) & 7);
  at = put(at, bitsAt(from, first), <u32>first);
  from += first;
  const shift = from & 7;
  for (; shift == 0 && end - from >= 128; from += 128, at += 128)
    v128.store(<usize>(at >> 3), v128.load(<usize>(from >> 3)));
  for (; shift != 0 && end - from >= 128; from += 128, at += 128) {
    const source = <usize>(from >> 3);
    const low = i64x2.shr_u(v128.load(source), <i32>shift);
    const high = i64x2.shl(v128.load(source, 8), 64 - <i32>shift);
    v128.store(<usize>(at >> 3), v128.or(low, high));
  }
  for (; end - from >= 64; from += 64, at += 64) {
    const source = <usize>(from >> 3);
    const low = load<u64>(source) >> shift;
    store<u64>(<usize>(at >> 3), low | (((<u64>load<u8>(source, 8)) << 1) << (63 - shift)));
  }
  while (from < end) {
    const size = min<u64>(48, end - from);
    at = put(at, bitsAt(from, size), <u32>size);
    from += size;
  }
  return at;
}

/** Up to 56 bits at a bit address. */
function bitsAt(at: u64, size: u64): u64 {
  return (load<u64>(<usize>(at >> 3)) >> (at & 7)) & (((<u64>1) << size) - 1);
}
