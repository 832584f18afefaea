// Reads a JSON document that arrives in pieces, with whole numbers exact and within bounds.
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
 * What stands before the digits of a long integer while it is a text: JSON.parse would round the
 * number. No document can have it, as nobody can know it.
 */
const MARK = `\0${randomBytes(12).toString('hex')}`;
const QUOTED_MARK = JSON.stringify(MARK).slice(0, -1);

const FIRST_BYTES = 1 << 16;

/** What a bad document is quoted by, at most. */
const LONGEST_COMPLAINT = 160;

/** The number that digits stand for, exactly. */
export function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

export class JsonDocument {
  readonly #scan: JsonScan;
  /** Not the chunks themselves: small ones cost far more than what they hold. */
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

  /** The value, once everything is written. @throws PollFailure `bad_json` or `too_many` */
  end(): Json {
    const longIntegers = this.#scan.end();
    const bytes = this.#bytes.subarray(0, this.#length);
    const value = parsed(decoded(marked(bytes, longIntegers)));
    return longIntegers.length === 0 ? value : unmarked(value);
  }
}

/** The document with its long integers as marked texts. */
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

/** The value with its marked texts as integers; no deeper than the document nests. */
function unmarked(value: Json): Json {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? exactInteger(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    for (let index = 0; index < value.length; index++) unmarkIn(value, index);
    return value;
  }
  for (const key in value) {
    // A number where the name of a member should be.
    if (key.startsWith(MARK)) throw badJson(`${key} is no name`);
    unmarkIn(value, key);
  }
  return value;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);

function unmarkIn(holder: JsonObject | readonly Json[], key: string | number): void {
  const item = Reflect.get(holder, key) as Json;
  const exact = unmarked(item);
  // A member called __proto__ is one of its own, and stays so.
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
    // Without the piece of the body behind it: the body may repeat the key, or tell names of users.
    throw badJson(messageOf(error).replace(/(^|, (\.{3})?)".*$/s, ''));
  }
}

function badJson(complaint: string): PollFailure {
  const plain = complaint.replaceAll(MARK, '').replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const message = `the body is not JSON: ${plain.slice(0, LONGEST_COMPLAINT)}`;
  return new PollFailure('bad_json', message);
}
