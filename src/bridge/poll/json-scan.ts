// Scans the bytes of a JSON document as they arrive for its nesting and its long integers.
import { PollFailure } from './poll-failure.js';

export interface ScanBounds {
  /** Nesting depth of arrays and objects. */
  readonly mostNesting: number;
  /** Total of arrays and objects. */
  readonly mostBrackets: number;
  /** Total of commas, and so of array items and object members. */
  readonly mostCommas: number;
  readonly mostLongIntegers: number;
}

/** The position of an integer that a double may not hold exactly. */
export interface LongInteger {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d];
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];
const [ZERO, NINE] = [0x30, 0x39];
/** `.`, `e` and `E` make a number a decimal; `+` follows an `e`. */
const DECIMAL = new Set([0x2e, 0x65, 0x45, 0x2b]);

/** 2^53 has 16 digits. */
const LEAST_DIGITS = 16;
/** More digits than any 64-bit integer. */
const MAX_DIGITS = 20;

/** Only separates strings from the rest; the parser decides whether it is JSON. */
export class JsonScan {
  readonly #longIntegers: LongInteger[] = [];
  readonly #bounds: ScanBounds;
  #at = 0;
  #nesting = 0;
  #brackets = 0;
  #commas = 0;
  #isText = false;
  #isEscaped = false;
  /** Start of the number being scanned, and its digits; -1 for none. */
  #number = -1;
  #digits = 0;
  #isDecimal = false;

  constructor(bounds: ScanBounds) {
    this.#bounds = bounds;
  }

  /** @throws PollFailure `too_deep` or `too_many` */
  pass(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0;
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isText = false;
      } else if ((byte >= ZERO && byte <= NINE) || byte === MINUS) {
        if (this.#number < 0) this.#begin(this.#at + index);
        if (byte !== MINUS) this.#digits++;
      } else if (this.#number >= 0 && DECIMAL.has(byte)) this.#isDecimal = true;
      else {
        if (this.#number >= 0) this.#finish(this.#at + index);
        if (byte === QUOTE) this.#isText = true;
        else if (byte === COMMA) this.#separate();
        else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#enter();
        else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#nesting--;
      }
    }
    this.#at += bytes.length;
  }

  /**
   * The long integers, in the order of the document, once all of it is scanned. @throws as `pass`
   */
  end(): readonly LongInteger[] {
    if (this.#number >= 0) this.#finish(this.#at);
    return this.#longIntegers;
  }

  #begin(at: number): void {
    this.#number = at;
    this.#digits = 0;
    this.#isDecimal = false;
  }

  #finish(end: number): void {
    const isLong = this.#digits >= LEAST_DIGITS && this.#digits <= MAX_DIGITS;
    if (isLong && !this.#isDecimal) {
      this.#longIntegers.push({ start: this.#number, end });
      if (this.#longIntegers.length > this.#bounds.mostLongIntegers)
        throw tooMany(this.#bounds.mostLongIntegers, 'integers of 16 digits and more');
    }
    this.#number = -1;
  }

  #separate(): void {
    const { mostCommas } = this.#bounds;
    if (++this.#commas > mostCommas) throw tooMany(mostCommas, 'commas');
  }

  #enter(): void {
    const { mostNesting, mostBrackets } = this.#bounds;
    if (++this.#nesting > mostNesting)
      throw new PollFailure(
        'too_deep',
        `its arrays and objects nest deeper than ${mostNesting} levels, more than a tree of max_depth has`,
      );
    if (++this.#brackets > mostBrackets) throw tooMany(mostBrackets, 'arrays and objects');
  }
}

const tooMany = (most: number, things: string): PollFailure =>
  new PollFailure(
    'too_many',
    `it has more than ${most} ${things}, more than a tree of max_objects and max_variables has`,
  );
