// Puts series into the exposition text so that no two have the same name and labels.
import { Hashes } from '../../collections/hashes.js';
import type { FamilyFacts } from '../../model.js';
import type { Effort } from '../effort.js';
import { labelsOf } from '../kernel/line-table.js';
import type { Line, LineKey } from '../kernel/line-table.js';
import { LeftOut } from '../left-out.js';
import { limitText } from '../target-limits.js';
import type { OnOmitted, TargetRoom } from '../target-limits.js';
import { effortOf } from '../text/exposition-text.js';
import type { ExpositionText } from '../text/exposition-text.js';
import type { Family } from '../text/family.js';
import { WaitingSeries } from './waiting-series.js';
import type { Waiting } from './waiting-series.js';

/** The most families that one target shows. */
const MAX_FAMILIES = 10_000;
/** The metrics of the exporter itself begin with this. */
const OWN_PREFIX = 'shm_exporter_';

/** The first series with a name and labels wins; later ones wait, and are counted. */
export class SeriesRegister {
  readonly #text: ExpositionText;
  readonly #hashes = new Hashes();
  readonly #waiting = new WaitingSeries();
  #clashes = 0;
  #omitted = 0;
  /** By owner; the key of one is its sub and name. */
  readonly #leftOut = new LeftOut();
  readonly #effort: Effort;
  readonly #onClash: (series: string) => void;
  readonly #room: TargetRoom;
  readonly #onOmitted: OnOmitted;

  /** @param effort to which series add that are not shown, as lines of the text do */
  constructor(
    text: ExpositionText,
    effort: Effort,
    onClash: (series: string) => void,
    room: TargetRoom,
    onOmitted: OnOmitted = () => undefined,
  ) {
    this.#text = text;
    this.#effort = effort;
    this.#onClash = onClash;
    this.#room = room;
    this.#onOmitted = onOmitted;
  }

  /** Series that were not shown because another had their name and labels, since the start. */
  get clashes(): number {
    return this.#clashes;
  }

  /** Series that were left out because a target would have shown too much, since the start. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Series that wait for another with their name and labels, now. */
  get clashing(): number {
    return this.#waiting.size;
  }

  /** Series that are left out now because the target would show too much. */
  get leftOut(): number {
    return this.#leftOut.amount;
  }

  /** Whether a series is shown, or waits for another with its name and labels; undefined if neither. */
  standing(name: string, key: LineKey): 'shown' | 'waiting' | undefined {
    if (this.#text.hash(name, key) !== undefined) return 'shown';
    return this.#waiting.at(name, key) === undefined ? undefined : 'waiting';
  }

  /** Why a further series of that name would not be shown whatever its labels; empty if it would. */
  refusalOf({ name, type }: FamilyFacts): string {
    if (name.startsWith(OWN_PREFIX))
      return `names of metrics beginning with ${OWN_PREFIX} are reserved`;
    const family = this.#text.family(name)?.facts;
    if (family !== undefined && family.type !== type)
      return `the metric is a ${family.type} elsewhere`;
    const limit = this.#room.reached('series', 1);
    if (limit !== undefined) return limitText(this.#room.limits, limit);
    if (family === undefined && this.#text.families >= MAX_FAMILIES)
      return `a target shows ${MAX_FAMILIES} metrics at most`;
    return '';
  }

  /** Whether there are series of a metric. */
  isShown(name: string): boolean {
    return this.#text.family(name) !== undefined;
  }

  /**
   * Counts series that the caller left out.
   * @param key of the first, until which is removed they are left out; without it they stay so
   */
  omit(series: number, name?: string, key?: LineKey): void {
    this.#omitted += series;
    if (name === undefined || key === undefined) this.#leftOut.addOthers();
    else this.#leftOut.add(key.owner, leftKey(name, key), series);
  }

  /** Adds a series, or replaces the line of the one with this key. */
  put(facts: FamilyFacts, rank: number, key: LineKey, line: Line): void {
    const { name } = facts;
    this.#takeBack(name, key);
    const family = this.#text.family(name);
    const hash = this.#text.seriesHash(name, line);
    const former = family?.hash(key);
    if (!this.#take(facts, family, hash, former)) {
      if (former !== undefined) this.remove(name, key);
      this.#wait({ facts, rank, key, line, hash });
      return;
    }
    if (former === undefined || family === undefined) {
      this.#waiting.delete(name, key);
      this.#show(family, facts, rank, key, line, hash);
      return;
    }
    if (former === hash || this.#hasRoomToGrow(family, key, line))
      this.#text.put(facts, rank, key, line, hash);
    else {
      this.#text.remove(name, key);
      this.#leaveOut(name, key, line, hash);
    }
    if (former === hash) return;
    this.#hashes.delete(former);
    this.#admit(name, former);
  }

  remove(name: string, key: LineKey): void {
    this.#takeBack(name, key);
    const hash = this.#text.hash(name, key);
    if (hash === undefined) {
      this.#waiting.delete(name, key);
      return;
    }
    this.#text.remove(name, key);
    this.#hashes.delete(hash);
    this.#admit(name, hash);
  }

  /** Shows a series that was not shown and whose name and labels are taken for it, if there is room. */
  #show(
    family: Family | undefined,
    facts: FamilyFacts,
    rank: number,
    key: LineKey,
    line: Line,
    hash: number,
  ): void {
    if (this.#hasRoomFor(facts.name, family, line)) this.#text.put(facts, rank, key, line, hash);
    else this.#leaveOut(facts.name, key, line, hash);
  }

  #leaveOut(name: string, key: LineKey, line: Line, hash: number): void {
    this.#hashes.delete(hash);
    this.omit(1, name, key);
    this.#effort.steps += effortOf(line);
  }

  /** Forgets that the series with this key was left out. */
  #takeBack(name: string, key: LineKey): void {
    if (this.#leftOut.has(key.owner)) this.#leftOut.delete(key.owner, leftKey(name, key));
  }

  /** Whether the line of a series that is shown may have this text. */
  #hasRoomToGrow(family: Family, key: LineKey, line: Line): boolean {
    const { name } = family.facts;
    const { suffix } = line;
    const growth = name.length + suffix.length + labelsOf(line).length - family.lineBytes(key);
    const limit = growth > 0 ? this.#room.reachedByText(growth) : undefined;
    if (limit !== undefined) this.#onOmitted(limit, `series ${seriesOf(name, line)}`);
    return limit === undefined;
  }

  /** Bounds what a publisher can make a target show, and reserves the exporter's own names. */
  #hasRoomFor(name: string, family: Family | undefined, line: Line): boolean {
    if (family === undefined && name.startsWith(OWN_PREFIX)) return false;
    const limit = this.#room.reached('series', labelsOf(line).length);
    if (limit !== undefined) {
      this.#onOmitted(limit, `series ${seriesOf(name, line)}`);
      return false;
    }
    return family !== undefined || this.#text.families < MAX_FAMILIES;
  }

  /**
   * Takes name and labels for a series, in place of the one with the hash `former`; false if another has
   * them, or its metric has another type.
   * @param family of its name, if there is one
   */
  #take({ type }: FamilyFacts, family: Family | undefined, hash: number, former?: number): boolean {
    if (family !== undefined && family.facts.type !== type) return false;
    return hash === former || this.#hashes.add(hash);
  }

  /** Counts a clash, unless the series with this key is waiting already. */
  #wait(next: Waiting): void {
    this.#effort.steps += effortOf(next.line);
    if (this.#waiting.at(next.facts.name, next.key)?.hash !== next.hash) {
      this.#clashes++;
      this.#onClash(seriesOf(next.facts.name, next.line));
    }
    this.#waiting.put(next);
  }

  /** Shows the series that waited for a name and labels, or for the type of a removed family. */
  #admit(name: string, hash: number): void {
    const isGone = this.#text.family(name) === undefined;
    const ofFamily = isGone ? this.#waiting.ofFamily(name) : [];
    for (const next of [...this.#waiting.withHash(hash), ...ofFamily]) {
      const { facts, rank, key, line } = next;
      const family = this.#text.family(facts.name);
      if (!this.#take(facts, family, next.hash)) continue;
      this.#waiting.delete(facts.name, key);
      this.#show(family, facts, rank, key, line, next.hash);
    }
  }
}

const leftKey = (name: string, { sub }: LineKey): string => `${sub} ${name}`;

/** Name and labels. */
const seriesOf = (name: string, line: Line): string =>
  name + line.suffix + labelsOf(line).trimEnd();
