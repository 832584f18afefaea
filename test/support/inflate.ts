// An inflater that shares no code with zlib. It also returns the kind and the end of each block, which zlib does not
// report. RFC 1951.
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/** The last length symbol is the maximum length, 258, and has no extra bits. */
const LENGTH_SYMBOLS = 29;
const WINDOW = 32_768;

export interface InflatedBlock {
  readonly kind: 'stored' | 'fixed' | 'dynamic';
  readonly isLast: boolean;
  /** The position after the block, in bits. A stored block begins with up to 7 unused bits. */
  readonly endBit: number;
  /** The number of bytes that the block holds. */
  readonly bytes: number;
}

/** Decodes the next symbol. */
type Decoder = () => number;

/** @throws Error if the stream is not valid, or if bytes follow it */
export function inflate(data: Uint8Array): { text: Buffer; blocks: readonly InflatedBlock[] } {
  const blocks: InflatedBlock[] = [];
  const text: number[] = [];
  let at = 0;
  const fail = (what: string): never => {
    throw new Error(`${what} at bit ${at}`);
  };
  const bits = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++, at++)
      value += (((data[at >> 3] ?? fail('the end of the data')) >> (at & 7)) & 1) * 2 ** i;
    return value;
  };

  const decoder = (lengths: readonly number[]): Decoder => {
    // The key is the code after a 1 bit, so that keys of different lengths differ.
    const symbols = new Map<number, number>();
    let next = 0;
    for (let length = 1; length <= 15; length++, next *= 2)
      for (const [symbol, own] of lengths.entries())
        if (own === length) symbols.set(2 ** length + next++, symbol);
    return () => {
      let key = 1;
      for (;;) {
        key = key * 2 + bits(1);
        const symbol = symbols.get(key);
        if (symbol !== undefined) return symbol;
        if (key >= 2 ** 15) fail('an unknown code');
      }
    };
  };

  const readLengths = (decode: Decoder, count: number): number[] => {
    const lengths: number[] = [];
    while (lengths.length < count) {
      const symbol = decode();
      if (symbol < 16) lengths.push(symbol);
      else {
        const repeated = symbol === 16 ? (lengths.at(-1) ?? fail('a repetition of nothing')) : 0;
        const times = symbol === 18 ? 11 + bits(7) : 3 + bits(symbol === 17 ? 3 : 2);
        lengths.push(...Array.from({ length: times }, () => repeated));
      }
    }
    return lengths.length === count ? lengths : fail('too many code lengths');
  };

  const dynamicDecoders = (): readonly [Decoder, Decoder] => {
    const [literals, distances, count] = [257 + bits(5), 1 + bits(5), 4 + bits(4)];
    const own = Array.from({ length: 19 }, () => 0);
    for (const symbol of CODE_LENGTH_ORDER.slice(0, count)) own[symbol] = bits(3);
    const lengths = readLengths(decoder(own), literals + distances);
    return [decoder(lengths.slice(0, literals)), decoder(lengths.slice(literals))];
  };

  const fixedDecoders = (): readonly [Decoder, Decoder] => {
    const lengths = Array.from({ length: 288 }, (_, i) =>
      i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8,
    );
    return [decoder(lengths), decoder(Array.from({ length: 30 }, () => 5))];
  };

  /** The base of a symbol of a length or distance, plus its extra bits: each extra bit doubles the step of the bases. */
  const extended = (symbol: number, perStep: number): number => {
    const extra = Math.max(0, Math.floor(symbol / perStep) - 1);
    return (symbol - extra * perStep) * 2 ** extra + bits(extra);
  };

  const readSymbols = ([literal, distance]: readonly [Decoder, Decoder]): void => {
    for (;;) {
      const symbol = literal();
      if (symbol === 256) return;
      if (symbol < 256) {
        text.push(symbol);
        continue;
      }
      const length = symbol - 257 === LENGTH_SYMBOLS - 1 ? 258 : 3 + extended(symbol - 257, 4);
      const back = 1 + extended(distance(), 2);
      if (back > text.length || back > WINDOW) fail(`a match ${back} bytes back`);
      for (let i = 0; i < length; i++) text.push(text[text.length - back] ?? 0);
    }
  };

  const readStored = (): void => {
    at = Math.ceil(at / 8) * 8;
    const length = bits(16);
    if (length + bits(16) !== 0xffff) fail('a wrong length');
    for (let i = 0; i < length; i++) text.push(bits(8));
  };

  for (let isLast = false; !isLast;) {
    isLast = bits(1) === 1;
    const kind = (['stored', 'fixed', 'dynamic'] as const)[bits(2)] ?? fail('an unknown block');
    const before = text.length;
    if (kind === 'stored') readStored();
    else readSymbols(kind === 'fixed' ? fixedDecoders() : dynamicDecoders());
    blocks.push({ kind, isLast, endBit: at, bytes: text.length - before });
  }
  if (Math.ceil(at / 8) !== data.length) fail('bytes after the last block');
  return { text: Buffer.from(text), blocks };
}
