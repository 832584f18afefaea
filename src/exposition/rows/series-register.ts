// Puts series into the exposition text so that no two have the same name and labels.
import type { FamilyFacts } from '../../model.js';
import type { LineKey } from '../text/block.js';
import type { ExpositionText } from '../text/exposition-text.js';
import type { Line } from '../kernel/line-table.js';
import { WaitingSeries } from './waiting-series.js';
import type { Waiting } from './waiting-series.js';

/** The most that one target shows: series, families, characters of names and labels. */
const MAX_SERIES = 2_000_000;
const MAX_FAMILIES = 10_000;
const MAX_TEXT = 2 ** 29;
/** The metrics of the exporter itself begin with this. */
const OWN_PREFIX = 'shm_exporter_';

/** The first series with a name and labels wins; later ones wait, and are counted. */
export class SeriesRegister {
  readonly #text: ExpositionText;
  readonly #hashes = new Set<number>();
  readonly #waiting = new WaitingSeries();
  #clashes = 0;
  #omitted = 0;
  /** Characters of the shown names and labels. */
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

  /** Counts series that the caller left out. */
  omit(series: number): void {
    this.#omitted += series;
  }

  /** Adds a series, or replaces the line of the one with this key. */
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
    if (shown === undefined) this.#waiting.delete(name, key);
    if (shown === undefined && !this.#hasRoomFor(name, line)) {
      this.#omitted++;
      return;
    }
    if (shown !== undefined) this.#textLength -= shown.text.length;
    this.#show(next);
    if (former === undefined || former === next.hash) return;
    this.#hashes.delete(former);
    this.#admit(name, former);
  }

  remove(name: string, key: LineKey): void {
    const line = this.#text.line(name, key);
    if (line === undefined) {
      this.#waiting.delete(name, key);
      return;
    }
    this.#text.remove(name, key);
    this.#textLength -= line.text.length;
    const hash = hashOf(seriesOf(line.text));
    this.#hashes.delete(hash);
    this.#admit(name, hash);
  }

  /** Bounds what a publisher can make a target show, and reserves the exporter's own names. */
  #hasRoomFor(name: string, { text }: Line): boolean {
    if (name.startsWith(OWN_PREFIX) || this.#text.lines >= MAX_SERIES) return false;
    if (this.#textLength + text.length > MAX_TEXT) return false;
    return this.#text.families < MAX_FAMILIES || this.#text.facts(name) !== undefined;
  }

  /** True if a series can be shown in place of the one with the hash `former`. */
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
    if (this.#waiting.at(next.facts.name, next.key)?.hash !== next.hash) {
      this.#clashes++;
      this.#onClash(seriesOf(next.line.text));
    }
    this.#waiting.put(next);
  }

  /** Shows the series that waited for a name and labels, or for the type of a removed family. */
  #admit(name: string, hash: number): void {
    const isGone = this.#text.facts(name) === undefined;
    const ofFamily = isGone ? this.#waiting.ofFamily(name) : [];
    for (const next of [...this.#waiting.withHash(hash), ...ofFamily]) {
      if (!this.#isFree(next)) continue;
      this.#waiting.delete(next.facts.name, next.key);
      this.#show(next);
    }
  }
}

/** Name and labels: all before the last blank. */
const seriesOf = (text: string): string => text.slice(0, text.lastIndexOf(' '));

/**
 * 52 bits of two 32-bit FNV-1a hashes with different offsets. Among a million series, two different
 * ones collide with a probability of one in ten thousand; then one of them counts as a clash.
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
