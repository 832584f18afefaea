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

/** What a bad document is quoted by, at most. */
const LONGEST_COMPLAINT = 160;

/** The number that digits stand for, exactly. */
export function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

export class JsonDocument {
  readonly #scan: JsonScan;
  readonly #chunks: Uint8Array[] = [];

  constructor(bounds: ScanBounds) {
    this.#scan = new JsonScan(bounds);
  }

  /** @throws PollFailure `too_deep` or `too_many`, as soon as it is */
  write(chunk: Uint8Array): void {
    this.#scan.pass(chunk);
    this.#chunks.push(chunk);
  }

  /** The value, once everything is written. @throws PollFailure `bad_json` */
  end(): Json {
    const longIntegers = this.#scan.end();
    const bytes = Buffer.concat(this.#chunks);
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
  for (const [key, item] of Object.entries(value)) {
    const exact = unmarked(item);
    // Not by assignment: a member may be called __proto__.
    if (exact !== item) Reflect.defineProperty(value, key, { ...MEMBER, value: exact });
  }
  return value;
}

const MEMBER = { writable: true, enumerable: true, configurable: true };

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
    throw badJson(messageOf(error));
  }
}

function badJson(complaint: string): PollFailure {
  const plain = complaint.replaceAll(MARK, '').replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const message = `the body is not JSON: ${plain.slice(0, LONGEST_COMPLAINT)}`;
  return new PollFailure('bad_json', message);
}
