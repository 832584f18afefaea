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
  /** Of its name and labels. */
  readonly hash: number;
}

/** Series that clash and wait for the first to go; beyond this many they are only counted. */
const MOST_WAITING = 10_000;

/** What one target shows at most: series, families, characters of names and labels. */
const MOST_SERIES = 2_000_000;
const MOST_FAMILIES = 10_000;
const MOST_TEXT = 2 ** 29;
/** The metrics of the exporter itself begin with this. */
const OWN_PREFIX = 'shm_exporter_';

/** The first series of a name and labels stays; later ones wait, and are counted. */
export class SeriesRegister {
  readonly #text: ExpositionText;
  readonly #hashes = new Set<number>();
  readonly #waiting: Waiting[] = [];
  #clashes = 0;
  #omitted = 0;
  /** Characters of names and labels that are shown. */
  #textLength = 0;
  #onClash: (series: string) => void;

  constructor(text: ExpositionText, onClash: (series: string) => void) {
    this.#text = text;
    this.#onClash = onClash;
  }

  /** Series that were not shown because another had their name and labels, since the start. */
  get clashes(): number {
    return this.#clashes;
  }

  /** Series that were left out because a target would have shown too much, since the start. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Adds a series, or gives the one with this key another line. */
  put(facts: FamilyFacts, rank: number, key: LineKey, line: Line): void {
    const { name } = facts;
    const next = { facts, rank, key, line, hash: hashOf(seriesOf(line.text)) };
    const shown = this.#text.line(name, key);
    const former = shown === undefined ? undefined : hashOf(seriesOf(shown.text));
    if (!this.#isFree(next, former)) {
      if (shown !== undefined) this.remove(name, key);
      this.#wait(next);
      return;
    }
    if (shown === undefined) this.#forget(name, key);
    if (shown === undefined && !this.#hasRoomFor(name, line)) {
      this.#omitted++;
      return;
    }
    if (shown !== undefined) this.#textLength -= shown.text.length;
    this.#show(next);
    if (former === undefined || former === next.hash) return;
    this.#hashes.delete(former);
    this.#admit();
  }

  remove(name: string, key: LineKey): void {
    const line = this.#text.line(name, key);
    if (line === undefined) {
      this.#forget(name, key);
      return;
    }
    this.#text.remove(name, key);
    this.#textLength -= line.text.length;
    this.#hashes.delete(hashOf(seriesOf(line.text)));
    this.#admit();
  }

  /** What a publisher can make a target show is bounded, and our own names are ours. */
  #hasRoomFor(name: string, { text }: Line): boolean {
    if (name.startsWith(OWN_PREFIX) || this.#text.lines >= MOST_SERIES) return false;
    if (this.#textLength + text.length > MOST_TEXT) return false;
    return this.#text.families < MOST_FAMILIES || this.#text.facts(name) !== undefined;
  }

  /** Whether a series can be shown where the one with the hash `former` is or was. */
  #isFree({ facts, hash }: Waiting, former?: number): boolean {
    if (hash !== former && this.#hashes.has(hash)) return false;
    return (this.#text.facts(facts.name)?.type ?? facts.type) === facts.type;
  }

  #show({ facts, rank, key, line, hash }: Waiting): void {
    this.#hashes.add(hash);
    this.#textLength += line.text.length;
    this.#text.put(facts, rank, key, line);
  }

  /** Counts a clash, unless the series with this key is waiting already. */
  #wait(next: Waiting): void {
    const index = this.#indexOf(next.facts.name, next.key);
    const isKnown = this.#waiting[index]?.hash === next.hash;
    if (!isKnown) {
      this.#clashes++;
      this.#onClash(seriesOf(next.line.text));
    }
    if (index >= 0) this.#waiting[index] = next;
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(next);
  }

  /** Shows those that waited for what is gone now, the first ones first, of any family. */
  #admit(): void {
    for (let index = 0; index < this.#waiting.length; index++) {
      const next = this.#waiting[index];
      if (next === undefined || !this.#isFree(next)) continue;
      this.#waiting.splice(index--, 1);
      this.#show(next);
    }
  }

  #forget(name: string, key: LineKey): void {
    const index = this.#indexOf(name, key);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #indexOf(name: string, { owner, sub }: LineKey): number {
    return this.#waiting.findIndex(
      ({ facts, key }) => facts.name === name && key.owner === owner && key.sub === sub,
    );
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
