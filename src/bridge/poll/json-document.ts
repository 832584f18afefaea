// Reads a JSON document that arrives in pieces, within bounds and with exact integers.
import { randomBytes } from 'node:crypto';
import { messageOf } from '../../errors.js';
import { JsonScan } from './json-scan.js';
import type { LongInteger, ScanBounds } from './json-scan.js';
import { PollFailure } from './poll-failure.js';

/** A value of a document. Integers that a number cannot hold exactly are bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/**
 * Marks the digits of a long integer that we turn into a string, since JSON.parse would round the
 * number. It is random, so no document can contain it.
 */
const MARK = `\0${randomBytes(12).toString('hex')}`;
const QUOTED_MARK = JSON.stringify(MARK).slice(0, -1);

const FIRST_BYTES = 1 << 16;

/** The most characters quoted from a bad document. */
const LONGEST_COMPLAINT = 160;

/** The exact number of a string of digits. */
export function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

export class JsonDocument {
  readonly #scan: JsonScan;
  /** Not the chunks themselves: a small one costs far more memory than its bytes. */
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  constructor(bounds: ScanBounds) {
    this.#scan = new JsonScan(bounds);
  }

  /** @throws PollFailure `too_deep` or `too_many`, as soon as it is */
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

  /** The value, once the whole document is written. @throws PollFailure `bad_json` or `too_many` */
  end(): Json {
    const longIntegers = this.#scan.end();
    const bytes = this.#bytes.subarray(0, this.#length);
    const value = parsed(decoded(marked(bytes, longIntegers)));
    return longIntegers.length === 0 ? value : unmarked(value);
  }
}

/** The document with its long integers as marked strings. */
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

/** The value with its marked strings as integers; recursion is as deep as the document nests. */
function unmarked(value: Json): Json {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? exactInteger(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    for (let index = 0; index < value.length; index++) unmarkIn(value, index);
    return value;
  }
  for (const key in value) {
    // A number in place of a member name.
    if (key.startsWith(MARK)) throw badJson(`${key} is no name`);
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
  throw badJson(`${digits} is no number`);
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
    // Without the quoted piece of the body, which may hold the key or names of users.
    throw badJson(messageOf(error).replace(/(^|, (\.{3})?)".*$/s, ''));
  }
}

function badJson(complaint: string): PollFailure {
  const plain = complaint.replaceAll(MARK, '').replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const message = `the body is not JSON: ${plain.slice(0, LONGEST_COMPLAINT)}`;
  return new PollFailure('bad_json', message);
}
