// Reads a JSON document as it arrives, chunk by chunk, with whole numbers exact and within bounds.
import { TokenParser, TokenType, Tokenizer } from '@streamparser/json';
import { messageOf } from '../errors.js';
import { PollFailure } from './poll-failure.js';

/** A value of a document. Integers that a number cannot hold exactly are bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Far more digits than any 64-bit number has. */
const MOST_DIGITS = 40;
/** What a bad document is quoted by, at most. */
const LONGEST_COMPLAINT = 160;

/** An integer exactly; all else as the nearest double. */
export function jsonNumber(text: string): number | bigint {
  const number = Number(text);
  const isExact = Number.isSafeInteger(number) || !/^-?\d+$/.test(text);
  return isExact || text.length > MOST_DIGITS ? number : BigInt(text);
}

/** Tells numbers and texts exactly. */
class ExactTokenizer extends Tokenizer {
  constructor() {
    super();
    // A text is decoded in pieces, and the library's own decoder drops U+FEFF at the start of each.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const { bufferedString } = this as unknown as { readonly bufferedString: object };
    Object.assign(bufferedString, { decoder });
  }

  // The library foresees another parser; its type allows only what JavaScript rounds to.
  protected override parseNumber(text: string): number {
    return jsonNumber(text) as number;
  }
}

export class JsonDocument {
  readonly #tokenizer = new ExactTokenizer();
  readonly #parser = new TokenParser({ paths: ['$'] });
  readonly #mostNesting: number;
  #nesting = 0;
  #value: Json | undefined;

  /** @param mostNesting arrays and objects within each other */
  constructor(mostNesting: number) {
    this.#mostNesting = mostNesting;
    this.#parser.onValue = ({ value }) => {
      this.#value = value;
    };
    this.#tokenizer.onToken = (token) => {
      if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET)
        this.#enter();
      else if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET)
        this.#nesting--;
      this.#parser.write(token);
    };
    this.#tokenizer.onError = rethrow;
    this.#parser.onError = rethrow;
  }

  /** @throws PollFailure `bad_json` or `too_deep` */
  write(chunk: Uint8Array): void {
    telling(() => {
      this.#tokenizer.write(chunk);
    });
  }

  /** The value, once everything is written. @throws PollFailure `bad_json` */
  end(): Json {
    telling(() => {
      if (!this.#tokenizer.isEnded) this.#tokenizer.end();
      if (!this.#parser.isEnded) this.#parser.end();
    });
    if (this.#value === undefined) throw new PollFailure('bad_json', 'the body is empty');
    return this.#value;
  }

  #enter(): void {
    if (++this.#nesting > this.#mostNesting)
      throw new PollFailure(
        'too_deep',
        `the document nests deeper than ${this.#mostNesting} levels, which is what max_depth allows`,
      );
  }
}

function rethrow(error: Error): never {
  throw error;
}

function telling(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof PollFailure) throw error;
    const complaint = messageOf(error).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
    throw new PollFailure(
      'bad_json',
      `the body is not JSON: ${complaint.slice(0, LONGEST_COMPLAINT)}`,
    );
  }
}
