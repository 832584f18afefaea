// The recorded damage to segments: one case for each message that a reader can give.
import fc from 'fast-check';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PollResult } from '#app/streams/poller.js';
import { PROJECT } from '../support/processes.js';
import { mutation } from '../support/mutations.js';
import type { Mutation } from '../support/mutations.js';

/** The number of cases that are drawn from one seed. */
export const DRAWS = 2000;
/** One to five mutations of one segment. */
const DAMAGES = fc.array(mutation, { minLength: 1, maxLength: 5 });

const FILE = join(PROJECT, 'test/torture/corpus.json');

/**
 * Identifies a case, so that it can be generated again: a seed, and the case's index among the draws from
 * it.
 */
export interface Draw {
  readonly seed: number;
  readonly index: number;
}

interface Kept extends Draw {
  readonly mutations: number;
  readonly sentence: string;
}

/** Returns a reader's message without its numbers and quoted texts, which differ in every case. */
export const sentenceOf = ({ state, reason }: PollResult['publisher']): string =>
  `${state}: ${reason.replace(/"[^"]*"|(?<=CRC is |bytes give |0x|magic is )[\da-f]+|\d+/g, 'N')}`;

/** Returns all cases that are drawn from a seed. */
export const draws = (seed: number): readonly (readonly Mutation[])[] =>
  fc.sample(DAMAGES, { seed, numRuns: DRAWS });

export class Corpus {
  readonly #kept: Map<string, Kept>;

  private constructor(kept: readonly Kept[]) {
    this.#kept = new Map(kept.map((each) => [each.sentence, each]));
  }

  static read(): Corpus {
    const text = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '[]';
    return new Corpus(JSON.parse(text) as Kept[]);
  }

  get size(): number {
    return this.#kept.size;
  }

  *[Symbol.iterator](): Iterator<Kept> {
    yield* this.#kept.values();
  }

  /** Keeps the case if its message is new, or if the kept case with this message has more mutations. */
  offer(draw: Draw, mutations: number, sentence: string): void {
    const known = this.#kept.get(sentence);
    if (known === undefined || mutations < known.mutations)
      this.#kept.set(sentence, { sentence, mutations, ...draw });
  }

  write(): void {
    const kept = [...this.#kept.values()].sort((a, b) => (a.sentence < b.sentence ? -1 : 1));
    writeFileSync(FILE, `[\n${kept.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
  }
}
