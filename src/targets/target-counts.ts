// What a target counts, and when its states began, across its hostings.
import { addCounts, newCounters } from '../exposition/counters.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { TargetTimes } from '../model.js';
import type { Counted, TargetFacts } from '../streams/report.js';

export class TargetCounts {
  /** The sum of the target's reports. */
  readonly view = newCounters();
  readonly scrapes = { cacheHits: 0, cacheMisses: 0, scopeHits: 0, scopeMisses: 0 };
  readonly refreshes = new SampleWindow();

  add({ refreshesMs, counts }: Counted): void {
    for (const tookMs of refreshesMs) this.refreshes.add(tookMs);
    addCounts(this.view, counts);
  }

  /** @param scopeHit whether a scoped scrape found its selection; undefined without a scope */
  scrape(hasRendered: boolean, scopeHit: boolean | undefined): void {
    this.scrapes[hasRendered ? 'cacheMisses' : 'cacheHits']++;
    if (scopeHit !== undefined) this.scrapes[scopeHit ? 'scopeHits' : 'scopeMisses']++;
  }
}

type Noted = Pick<TargetFacts, 'isReady' | 'tick' | 'root' | 'view'>;

export class TargetHistory {
  #since: number;
  #isReady = false;
  #root = '';
  #tick: number | undefined;
  /** When the tick was seen to move. */
  #movedMs: number | undefined;
  /** The moment that the publisher states, in Unix ms. */
  #statedMs: number | undefined;

  /** @param unixMs when it was made; all times are Unix milliseconds */
  constructor(unixMs: number) {
    this.#since = unixMs;
  }

  get times(): TargetTimes {
    const stated = this.#statedMs;
    if (stated !== undefined)
      return { since: this.#since, newest: { unixMs: stated, by: 'stated' } };
    const moved = this.#movedMs;
    const newest = moved === undefined ? undefined : ({ unixMs: moved, by: 'notified' } as const);
    return { since: this.#since, newest };
  }

  note({ isReady, tick, root, view }: Noted, unixMs: number): void {
    if (isReady !== this.#isReady) this.#since = unixMs;
    this.#isReady = isReady;
    // Another partition, or the same root again, goes on with the same tick.
    if (root !== '' && root !== this.#root) this.#tick = this.#movedMs = undefined;
    if (root !== '') this.#root = root;
    if (tick !== undefined) {
      if (this.#tick !== undefined && tick !== this.#tick) this.#movedMs = unixMs;
      this.#tick = tick;
    }
    this.#statedMs = view?.asOfNs === undefined ? undefined : Number(view.asOfNs / 1_000_000n);
  }
}
