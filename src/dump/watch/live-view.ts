// A live view of a part of a tree on a terminal.
import {
  concat,
  concatMap,
  map,
  merge,
  of,
  repeat,
  startWith,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { Fault } from '../../errors.js';
import { ageText, grouped } from '../../shown/shown-text.js';
import { headingLines, itemText } from '../output/tree-text.js';
import type { FollowedSegment, SegmentReading } from '../segment/followed-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice, TreeItem, TreeReading } from '../tree/tree-items.js';
import { commandsIn, fittedText } from './screen.js';
import type { ScreenLine, ScreenSize, ViewCommand } from './screen.js';

interface ItemWindow<T> {
  readonly items: readonly T[];
  /** The index of the first shown item: lower than requested if the window would extend beyond the last item. */
  readonly from: number;
  readonly hasMore: boolean;
}

/** @param all returns all items in order; called again if `from` is too high to fill the window */
function itemWindow<T>(all: () => Iterable<T>, from: number, size: number): ItemWindow<T> {
  const items: T[] = [];
  let count = 0;
  for (const item of all()) {
    if (count >= from + size) return { items, from, hasMore: true };
    if (count >= from) items.push(item);
    count++;
  }
  const last = Math.max(0, count - size);
  return from <= last ? { items, from, hasMore: false } : itemWindow(all, last, size);
}

const AGE_COLUMNS = 12;
const KEYS = 'up, down, page up, page down, home; q quits';

/** The line of an item at the latest redraw, and the time of its last visible change. */
interface ShownLine {
  /** The text, with ages computed for a fixed time. So a growing age does not count as a change of the item. */
  readonly timeless: string;
  readonly changedMs: number | undefined;
}

export class LiveView {
  readonly #segment: FollowedSegment;
  readonly #choice: Choice;
  readonly #hasKeys: boolean;
  #position = 0;
  #height = 0;
  #generation = '';
  /** The lines on the screen, by item id. */
  #shown = new Map<number, ShownLine>();

  constructor(segment: FollowedSegment, choice: Choice, hasKeys: boolean) {
    this.#segment = segment;
    this.#choice = choice;
    this.#hasKeys = hasKeys;
  }

  move(command: Exclude<ViewCommand, 'end'>): void {
    const by = command === 'start' ? -Infinity : command.lines + command.screens * this.#height;
    this.#position = Math.max(0, this.#position + by);
  }

  /** Reads the segment, and returns all lines of the screen, padded to its full width. */
  lines(size: ScreenSize, nowMs: number): readonly ScreenLine[] {
    const segment = this.#segment.read();
    const { generation } = segment.status;
    if (generation !== this.#generation) this.#shown.clear();
    this.#generation = generation;
    const heading = [...headingLines(segment.status, nowMs), ''].map(plainLine);
    this.#height = Math.max(1, size.rows - heading.length - 1);
    const { lines, footer } = this.#visibleItems(segment, nowMs, size.columns);
    const body = Array.from({ length: this.#height }, (_, row) => lines[row] ?? plainLine(''));
    return [...heading, ...body, plainLine(footer)].map(({ text, isBold }) => ({
      text: fittedText(text, size.columns),
      isBold,
    }));
  }

  /** Draws the items that fit on the screen, and the footer. */
  #visibleItems({ reading }: SegmentReading, nowMs: number, columns: number) {
    try {
      const all = () => treeItems(reading, this.#choice);
      const { items, from, hasMore } = itemWindow(all, this.#position, this.#height);
      this.#position = from;
      const before = this.#shown;
      this.#shown = new Map();
      const lines = items.map((item) => this.#line(item, before, reading, { nowMs, columns }));
      return { lines, footer: this.#footer(hasMore) };
    } catch (error) {
      // The selected object was removed, and may return.
      if (!(error instanceof Fault) || error.code !== 'USAGE') throw error;
      return { lines: [plainLine(error.message)], footer: this.#footer(false) };
    }
  }

  #line(
    item: TreeItem,
    before: ReadonlyMap<number, ShownLine>,
    reading: TreeReading,
    { nowMs, columns }: { readonly nowMs: number; readonly columns: number },
  ): ScreenLine {
    const { id } = item.kind === 'object' ? item.object : item.variable;
    const { text } = itemText(item, reading, nowMs);
    const { text: timeless } = itemText(item, reading, 0);
    const last = before.get(id);
    const isChanged = last !== undefined && last.timeless !== timeless;
    const changedMs = isChanged ? nowMs : last?.changedMs;
    this.#shown.set(id, { timeless, changedMs });
    if (changedMs === undefined) return plainLine(text);
    const age = ageText((nowMs - changedMs) / 1000).padStart(AGE_COLUMNS);
    return { text: fittedText(text, columns - AGE_COLUMNS) + age, isBold: isChanged };
  }

  #footer(hasMore: boolean): string {
    const rest = `${this.#position === 0 ? '' : `${grouped(this.#position)} above, `}${hasMore ? 'more below' : 'nothing below'}`;
    return `${rest}; ${this.#hasKeys ? KEYS : 'Ctrl-C quits'}`;
  }
}

const plainLine = (text: string): ScreenLine => ({ text, isBold: false });

/** The cause of a redraw: a command that scrolls, or `again` for any other cause. */
type DrawMoment = Exclude<ViewCommand, 'end'> | 'again';

interface MomentsOptions {
  /** The redraw interval while neither a key nor a resize causes a redraw. */
  readonly periodMs: number;
  readonly typed$: Observable<string>;
  readonly resized$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/** Emits at once, and at each cause of a redraw. Completes when a key ends the program. */
export function moments({
  periodMs,
  typed$,
  resized$,
  scheduler,
}: MomentsOptions): Observable<DrawMoment> {
  const commands$ = typed$.pipe(concatMap(commandsIn));
  const pauses$ = timer(periodMs, scheduler).pipe(repeat());
  return merge(commands$, resized$.pipe(map(() => 'again' as const))).pipe(
    startWith('again' as const),
    switchMap((moment) => concat(of(moment), pauses$.pipe(map(() => 'again' as const)))),
    takeWhile((moment): moment is DrawMoment => moment !== 'end'),
  );
}
