// A part of a tree on a screen, with the age of what changed since it is shown.
import { Fault } from '../../errors.js';
import { ageText, grouped } from '../../shown/ages.js';
import { headingLines } from '../output/heading.js';
import { itemText } from '../output/item-text.js';
import type { FollowedSegment, Glance } from '../segment/followed-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice, TreeItem } from '../tree/tree-items.js';
import type { TreeReading } from '../tree/tree-reading.js';
import { fittedText } from './fitted-text.js';
import { itemWindow } from './item-window.js';
import type { Key } from './keys.js';
import type { ScreenLine, ScreenSize } from './screen.js';

/** Columns of the age of a value, with the space before it. */
const AGE_COLUMNS = 12;
const KEYS = 'up, down, page up, page down, home; q ends';

/** The line of an item as it was shown last, and since when it is like that, if that was seen. */
interface Shown {
  readonly text: string;
  readonly changedMs: number | undefined;
}

export class LiveView {
  readonly #segment: FollowedSegment;
  readonly #choice: Choice;
  readonly #hasKeys: boolean;
  /** Items above the screen. */
  #position = 0;
  /** How many items the screen has. */
  #height = 0;
  #generation = '';
  /** By the ids of items; of those alone that are on the screen. */
  #shown = new Map<number, Shown>();

  constructor(segment: FollowedSegment, choice: Choice, hasKeys: boolean) {
    this.#segment = segment;
    this.#choice = choice;
    this.#hasKeys = hasKeys;
  }

  move(key: Exclude<Key, 'end'>): void {
    const by = key === 'start' ? -Infinity : key.lines + key.screens * this.#height;
    this.#position = Math.max(0, this.#position + by);
  }

  /** The whole screen as it is now; each line has its columns. */
  lines(size: ScreenSize, nowMs: number): readonly ScreenLine[] {
    const glance = this.#segment.look();
    const { generation } = glance.facts;
    if (generation !== this.#generation) this.#shown.clear();
    this.#generation = generation;
    const heading = [...headingLines(glance.facts, nowMs), ''].map(plainLine);
    this.#height = Math.max(1, size.rows - heading.length - 1);
    const { lines, footer } = this.#part(glance, nowMs, size.columns);
    const body = Array.from({ length: this.#height }, (_, row) => lines[row] ?? plainLine(''));
    return [...heading, ...body, plainLine(footer)].map(({ text, isBright }) => ({
      text: fittedText(text, size.columns),
      isBright,
    }));
  }

  /** The lines of the items on the screen. */
  #part({ reading }: Glance, nowMs: number, columns: number) {
    try {
      const all = () => treeItems(reading, this.#choice);
      const { items, from, hasMore } = itemWindow(all, this.#position, this.#height);
      this.#position = from;
      const before = this.#shown;
      this.#shown = new Map();
      const lines = items.map((item) => this.#line(item, before, reading, { nowMs, columns }));
      return { lines, footer: this.#footer(hasMore) };
    } catch (error) {
      // The chosen object was removed; it may come again.
      if (!(error instanceof Fault) || error.code !== 'USAGE') throw error;
      return { lines: [plainLine(error.message)], footer: this.#footer(false) };
    }
  }

  #line(
    item: TreeItem,
    before: ReadonlyMap<number, Shown>,
    reading: TreeReading,
    { nowMs, columns }: { readonly nowMs: number; readonly columns: number },
  ): ScreenLine {
    const { id } = item.kind === 'object' ? item.object : item.variable;
    const { text } = itemText(item, reading, nowMs);
    const last = before.get(id);
    const isChanged = last !== undefined && last.text !== text;
    const changedMs = isChanged ? nowMs : last?.changedMs;
    this.#shown.set(id, { text, changedMs });
    if (changedMs === undefined) return plainLine(text);
    const age = ageText((nowMs - changedMs) / 1000).padStart(AGE_COLUMNS);
    return { text: fittedText(text, columns - AGE_COLUMNS) + age, isBright: isChanged };
  }

  #footer(hasMore: boolean): string {
    const rest = `${this.#position === 0 ? '' : `${grouped(this.#position)} above, `}${hasMore ? 'more below' : 'nothing below'}`;
    return `${rest}; ${this.#hasKeys ? KEYS : 'Ctrl-C ends'}`;
  }
}

const plainLine = (text: string): ScreenLine => ({ text, isBright: false });
