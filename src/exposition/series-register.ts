// Puts series into the exposition text so that no two have the same name and labels.
import type { FamilyFacts } from '../model.js';
import type { LineKey } from './block.js';
import type { ExpositionText } from './exposition-text.js';
import type { Line } from './kernel/line-table.js';

interface Waiting {
  readonly facts: FamilyFacts;
  readonly rank: number;
  readonly key: LineKey;
  readonly line: Line;
}

/** Series that clash and wait for the first to go; beyond this many they are only counted. */
const MOST_WAITING = 10_000;

/** The first series of a name and labels stays; later ones wait, and are counted. */
export class SeriesRegister {
  readonly #text: ExpositionText;
  readonly #hashes = new Set<number>();
  readonly #waiting: Waiting[] = [];
  #clashes = 0;
  #onClash: (series: string) => void;

  constructor(text: ExpositionText, onClash: (series: string) => void) {
    this.#text = text;
    this.#onClash = onClash;
  }

  /** Series that were not shown because another had their name and labels, since the start. */
  get clashes(): number {
    return this.#clashes;
  }

  /** Adds a series, or gives the one with this key another line. */
  put(facts: FamilyFacts, rank: number, key: LineKey, line: Line): void {
    this.remove(facts.name, key);
    const known = this.#text.facts(facts.name);
    const hash = hashOf(seriesOf(line.text));
    const isTaken = this.#hashes.has(hash) || (known !== undefined && known.type !== facts.type);
    if (!isTaken) {
      this.#hashes.add(hash);
      this.#text.put(facts, rank, key, line);
      return;
    }
    this.#clashes++;
    this.#onClash(seriesOf(line.text));
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push({ facts, rank, key, line });
  }

  remove(name: string, key: LineKey): void {
    const line = this.#text.line(name, key);
    if (line === undefined) {
      if (this.#waiting.length > 0) this.#forget(name, key);
      return;
    }
    this.#text.remove(name, key);
    this.#hashes.delete(hashOf(seriesOf(line.text)));
    if (this.#waiting.length > 0) this.#admit(name);
  }

  /** Shows the first that waited for a series of this family that is gone now. */
  #admit(name: string): void {
    const index = this.#waiting.findIndex(
      ({ facts, line }) =>
        facts.name === name &&
        !this.#hashes.has(hashOf(seriesOf(line.text))) &&
        (this.#text.facts(name)?.type ?? facts.type) === facts.type,
    );
    const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (next !== undefined) this.put(next.facts, next.rank, next.key, next.line);
  }

  #forget(name: string, { owner, sub }: LineKey): void {
    const index = this.#waiting.findIndex(
      ({ facts, key }) => facts.name === name && key.owner === owner && key.sub === sub,
    );
    if (index >= 0) this.#waiting.splice(index, 1);
  }
}

/** Name and labels: all before the last blank. */
const seriesOf = (text: string): string => text.slice(0, text.lastIndexOf(' '));

/**
 * 52 bits of two 32-bit FNV-1a hashes with different offsets. Among a million series two different
 * ones meet with a probability of one in ten thousand; then one of them is taken for a clash.
 */
function hashOf(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x3c6ef372;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x5bd1e995);
    b ^= b >>> 15;
  }
  return (a >>> 0) * 0x100000 + ((b >>> 0) & 0xfffff);
}
