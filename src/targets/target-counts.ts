// What a target counts for as long as it is served: it goes on through moves, reloads and failures.
import { addCounts, newCounters } from '../exposition/counters.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Counted } from '../streams/target-facts.js';

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
