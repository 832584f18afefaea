// Parses a JSON document within limits, and keeps long integers exact.
import { randomBytes } from 'node:crypto';
import { messageOf } from '../../errors.js';
import { PollFailure } from './fetch-body.js';

export interface ScanBounds {
  /** Nesting depth of arrays and objects. */
  readonly mostNesting: number;
  /** The total number of arrays and objects. */
  readonly mostBrackets: number;
  /** The total number of commas. It limits the number of array items and object members. */
  readonly mostCommas: number;
  readonly mostLongIntegers: number;
}

/** The position of an integer that a double may not hold exactly. */
interface LongInteger {
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
/** The characters that occur in decimals but not in integers: `.`, `e`, `E`, and the `+` of an exponent. */
const DECIMAL = new Set([0x2e, 0x65, 0x45, 0x2b]);

/** Every integer with fewer digits is exact as a double: 2^53 has 16 digits. */
const LEAST_DIGITS = 16;
/** The maximum number of digits in a 64-bit integer. */
const MAX_DIGITS = 20;

/**
 * Checks the limits of a document while its bytes arrive, and finds its long integers. It only
 * recognizes where strings begin and end. The parser decides whether the document is JSON.
 */
class JsonScan {
  readonly #longIntegers: LongInteger[] = [];
  readonly #bounds: ScanBounds;
  #at = 0;
  #nesting = 0;
  #brackets = 0;
  #commas = 0;
  #isText = false;
  #isEscaped = false;
  /** The start of the number that is being scanned (-1 for none), and its count of digits. */
  #number = -1;
  #digits = 0;
  #isDecimal = false;

  constructor(bounds: ScanBounds) {
    this.#bounds = bounds;
  }

  /** Scans the next bytes. @throws PollFailure `too_deep` or `too_many` */
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
   * Ends the scan; returns the long integers in document order.
   * @throws PollFailure `too_many`
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
        throw tooMany(this.#bounds.mostLongIntegers, 'integers with 16 or more digits');
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
        `the body has more than ${mostNesting} levels of arrays and objects; max_depth sets this limit`,
      );
    if (++this.#brackets > mostBrackets) throw tooMany(mostBrackets, 'arrays and objects');
  }
}

const tooMany = (most: number, things: string): PollFailure =>
  new PollFailure(
    'too_many',
    `the body has more than ${most} ${things}; max_objects and max_variables set this limit`,
  );

/** A value of a document. Integers that a number cannot hold exactly are bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/**
 * The beginning of each string that replaces a long integer. Without the replacement, JSON.parse would round the
 * integer. The mark is random, so that no document can contain it.
 */
const MARK = `\0${randomBytes(12).toString('hex')}`;
const QUOTED_MARK = JSON.stringify(MARK).slice(0, -1);

const FIRST_BYTES = 1 << 16;

/** The maximum number of characters to quote from an error message of JSON.parse. */
const LONGEST_COMPLAINT = 160;

export function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

export class JsonDocument {
  readonly #scan: JsonScan;
  /** One buffer for all chunks: a list of small chunks would take far more memory than their bytes. */
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  constructor(bounds: ScanBounds) {
    this.#scan = new JsonScan(bounds);
  }

  /** Adds a chunk. @throws PollFailure `too_deep` or `too_many` as soon as the document exceeds a limit */
  write(chunk: Uint8Array): void {
    this.#scan.pass(chunk);
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }

  /** Parses the document after its last chunk. @throws PollFailure `bad_json` or `too_many` */
  end(): Json {
    const longIntegers = this.#scan.end();
    const bytes = this.#bytes.subarray(0, this.#length);
    const value = parsed(decoded(marked(bytes, longIntegers)));
    return longIntegers.length === 0 ? value : unmarked(value);
  }
}

/** The document with its long integers replaced by marked strings. */
function marked(bytes: Buffer, longIntegers: readonly LongInteger[]): Buffer {
  if (longIntegers.length === 0) return bytes;
  const [mark, quote] = [Buffer.from(QUOTED_MARK), Buffer.from('"')];
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of longIntegers) {
    pieces.push(bytes.subarray(from, start), mark, bytes.subarray(start, end), quote);
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

/** Replaces the marked strings of a value by integers. The limit on nesting also bounds the recursion. */
function unmarked(value: Json): Json {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? exactInteger(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    for (let index = 0; index < value.length; index++) unmarkIn(value, index);
    return value;
  }
  for (const key in value) {
    // In the document, the name of this member is a number without quotes.
    if (key.startsWith(MARK)) throw badJson(`a member has the name ${key}, which is not a string`);
    unmarkIn(value, key);
  }
  return value;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);

function unmarkIn(holder: JsonObject | readonly Json[], key: string | number): void {
  const item = Reflect.get(holder, key) as Json;
  const exact = unmarked(item);
  // A member called __proto__ must stay an own property.
  if (exact !== item) Reflect.set(holder, key, exact);
}

function exactInteger(digits: string): number | bigint {
  if (/^-?(0|[1-9]\d*)$/.test(digits)) return exactNumber(digits);
  throw badJson(`${digits} is not a number`);
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badJson('it is not UTF-8');
  }
}

function parsed(text: string): Json {
  if (text.trim() === '') throw badJson('it is empty');
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    // The message quotes a part of the body. That part may contain the security key or user names, so remove it.
    throw badJson(messageOf(error).replace(/(^|, (\.{3})?)".*$/s, ''));
  }
}

function badJson(complaint: string): PollFailure {
  const plain = complaint.replaceAll(MARK, '').replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const message = `the body is not JSON: ${plain.slice(0, LONGEST_COMPLAINT)}`;
  return new PollFailure('bad_json', message);
}
