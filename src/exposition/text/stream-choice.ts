// Whether the lines of a page compress themselves, or zlib compresses their text.
import { constants, deflateRawSync } from 'node:zlib';
import type { FamilyText } from '../../model.js';

/** How far back zlib finds what repeats: RFC 1951, 3.2.5. */
const WINDOW_BYTES = 32_768;
/** A step of a comparison: about a millisecond of zlib. */
const STEP_BYTES = 65_536;
/** Larger texts are not compared: each comparison compresses all of it. */
const MOST_COMPARED_BYTES = 2 ** 22;
/** That many lines in a block, on average, suffice there. */
const MANY_LINES = 256;
/** Bytes of a line beside its name and labels. */
const VALUE_BYTES = 10;
/** The header of a family takes about so many bytes more in a stream than zlib makes of it. */
const HEADER_BYTES = 50;

/** Compared again after that many renders, and when the number of lines changes by that part. */
const RENDERS_A_COMPARISON = 256;
const GROWTH = 0.25;

/** How a page is divided: each block refers to nothing outside. */
export interface PageShape {
  readonly lines: number;
  readonly blocks: number;
  /** Bytes of all names and labels. */
  readonly textBytes: number;
}

export interface StreamLimits {
  /** With fewer lines in a block, on average, zlib always makes less of a text, and nearly as fast. */
  readonly fewestLines: number;
  /** How many times as large as that of zlib a stream may be. */
  readonly mostTimes: number;
}

const LIMITS: StreamLimits = { fewestLines: 16, mostTimes: 1.15 };

export class StreamChoice {
  readonly #limits: StreamLimits;
  #isSmall = false;
  #rendersLeft = 0;
  /** Number of lines when they were compared last. */
  #linesCompared = 0;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** Whether lines compress themselves; undefined if that is to be compared. Call it once a render. */
  of({ lines, blocks, textBytes }: PageShape): boolean | undefined {
    if (lines < this.#limits.fewestLines * blocks) return false;
    const bytes = textBytes + lines * VALUE_BYTES;
    // zlib would not find the labels of a line in the family before.
    if (bytes >= WINDOW_BYTES * blocks) return true;
    if (bytes > MOST_COMPARED_BYTES) return lines >= MANY_LINES * blocks;
    const isGrown = Math.abs(lines - this.#linesCompared) > this.#linesCompared * GROWTH;
    if (--this.#rendersLeft <= 0 || isGrown) {
      this.#rendersLeft = RENDERS_A_COMPARISON;
      this.#linesCompared = lines;
      return undefined;
    }
    return this.#isSmall;
  }

  /** Compares both forms of some families with zlib, a step at a time. */
  *comparing(families: readonly FamilyText[]): Generator<void, void> {
    let bits = 0;
    for (const { deflated = [] } of families) for (const part of deflated) bits += part.bits;
    const zlibBytes = yield* deflatedBytes(families.flatMap(({ pieces }) => pieces));
    const bytes = bits / 8 + families.length * HEADER_BYTES;
    this.#isSmall = bytes <= zlibBytes * this.#limits.mostTimes;
  }
}

/** How many bytes zlib makes of these pieces at its fastest. */
function* deflatedBytes(pieces: readonly Uint8Array[]): Generator<void, number> {
  const text = Buffer.concat(pieces);
  let bytes = 0;
  for (let at = 0; at < text.length; at += STEP_BYTES) {
    const dictionary = text.subarray(Math.max(0, at - WINDOW_BYTES), at);
    const step = text.subarray(at, at + STEP_BYTES);
    const options = { level: constants.Z_BEST_SPEED, ...(at > 0 && { dictionary }) };
    bytes += deflateRawSync(step, options).length;
    yield;
  }
  return bytes;
}
