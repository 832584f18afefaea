// What a target counts for as long as it is served: it goes on through moves, reloads and failures.
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';
import type { Counted } from '../streams/target-facts.js';

export class TargetCounts {
  readonly #refreshes = new SampleWindow();
  #cacheHits = 0;
  #cacheMisses = 0;
  #scopeHits = 0;
  #scopeMisses = 0;
  #clashes = 0;
  #omitted = 0;
  #omittedObjects = 0;
  #omittedVariables = 0;
  #staleFrames = 0;

  get cacheHits(): number {
    return this.#cacheHits;
  }
  get cacheMisses(): number {
    return this.#cacheMisses;
  }
  get scopeHits(): number {
    return this.#scopeHits;
  }
  get scopeMisses(): number {
    return this.#scopeMisses;
  }
  get clashes(): number {
    return this.#clashes;
  }
  get omitted(): number {
    return this.#omitted;
  }
  get omittedObjects(): number {
    return this.#omittedObjects;
  }
  get omittedVariables(): number {
    return this.#omittedVariables;
  }
  get staleFrames(): number {
    return this.#staleFrames;
  }
  get refreshes(): Durations {
    return this.#refreshes.durations;
  }
  /** Milliseconds that all refreshes took. */
  get busyMs(): number {
    return this.#refreshes.sum;
  }

  add(counted: Counted): void {
    for (const tookMs of counted.refreshesMs) this.#refreshes.add(tookMs);
    this.#clashes += counted.clashes;
    this.#omitted += counted.omitted;
    this.#omittedObjects += counted.omittedObjects;
    this.#omittedVariables += counted.omittedVariables;
    this.#staleFrames += counted.staleFrames;
  }

  /** @param scopeHit whether a scoped scrape found its selection; undefined without a scope */
  scrape(hasRendered: boolean, scopeHit: boolean | undefined): void {
    if (hasRendered) this.#cacheMisses++;
    else this.#cacheHits++;
    if (scopeHit === true) this.#scopeHits++;
    if (scopeHit === false) this.#scopeMisses++;
  }
}
