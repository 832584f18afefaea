// The rendered samples of one family: its bytes, and the parsed series.
import { bytesOf } from '../../bytes.js';
import type { FamilyFacts, FamilyText, HeadedText, Sample } from '../../model.js';
import { inflated } from '../compress/deflate-stream.js';
import type { DeflatedText } from '../compress/deflate-stream.js';
import { decodeSeries } from './labels.js';

export const familyText = (facts: FamilyFacts, pieces: readonly Uint8Array[]): FamilyText => ({
  facts,
  pieces,
  bytes: bytesOf(pieces),
  samples: () => samplesIn(pieces),
});

/** A family of a few lines, whose bytes are made where they are wanted, and not kept. */
export class ShortFamily implements FamilyText {
  readonly facts: FamilyFacts;
  readonly text: string;
  readonly bytes: number;

  constructor(facts: FamilyFacts, text: string) {
    this.facts = facts;
    this.text = text;
    this.bytes = Buffer.byteLength(text);
  }

  get pieces(): readonly Uint8Array[] {
    return [Buffer.from(this.text)];
  }

  samples(): Iterable<Sample> {
    return samplesIn(this.pieces);
  }
}

/**
 * A family whose lines lie below their header, and with parts of a deflate stream where these are there too.
 * A class, as the next: an object with a getter of its own takes V8 microseconds to make.
 */
export class HeadedFamily implements FamilyText {
  readonly facts: FamilyFacts;
  readonly headed: HeadedText;
  readonly deflated: DeflatedText | undefined;
  readonly bytes: number;
  #pieces: readonly Uint8Array[] | undefined;

  constructor(facts: FamilyFacts, headed: HeadedText, deflated?: DeflatedText) {
    this.facts = facts;
    this.headed = headed;
    this.deflated = deflated;
    const { spans, header } = headed;
    let bytes = -header.bytes;
    for (let i = 0; i < spans.length; i += 2) bytes += (spans[i + 1] ?? 0) - (spans[i] ?? 0);
    this.bytes = bytes;
  }

  get pieces(): readonly Uint8Array[] {
    return (this.#pieces ??= withoutHeader(this.headed));
  }

  samples(): Iterable<Sample> {
    return samplesIn(this.pieces);
  }
}

/** A family with parts of a deflate stream alone, which are unpacked where the text is wanted. */
export class DeflatedFamily implements FamilyText {
  readonly facts: FamilyFacts;
  readonly deflated: DeflatedText;
  readonly bytes: number;
  #pieces: readonly Uint8Array[] | undefined;

  constructor(facts: FamilyFacts, deflated: DeflatedText) {
    this.facts = facts;
    this.deflated = deflated;
    let bytes = 0;
    for (const part of deflated.parts) bytes += part.bytes;
    this.bytes = bytes;
  }

  get pieces(): readonly Uint8Array[] {
    return (this.#pieces ??= [inflated(this.deflated)]);
  }

  samples(): Iterable<Sample> {
    return samplesIn(this.pieces);
  }
}

function withoutHeader({ header, memory, spans }: HeadedText): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let i = 0; i < spans.length; i += 2) {
    const start = (spans[i] ?? 0) + (i === 0 ? header.bytes : 0);
    pieces.push(Buffer.from(memory, start, (spans[i + 1] ?? 0) - start));
  }
  return pieces;
}

/** A piece holds whole lines, and may be in the memory of another thread. */
function* samplesIn(pieces: readonly Uint8Array[]): Generator<Sample> {
  for (const { buffer, byteOffset, length } of pieces) {
    const text = Buffer.from(buffer, byteOffset, length).toString();
    for (let start = 0; start < text.length;) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      const blank = text.lastIndexOf(' ', end);
      const series = decodeSeries(text.slice(start, blank));
      yield { ...series, value: text.slice(blank + 1, end) };
      start = end + 1;
    }
  }
}
