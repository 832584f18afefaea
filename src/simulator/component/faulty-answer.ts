// How a fault shows itself in one exchange.
import type { Component } from './component.js';
import type { Exchange } from './exchange.js';

/** What a fault knows beside the exchange. */
export interface Occasion {
  /** How many exchanges have met a fault before. */
  readonly turn: number;
  /** Counts a client that has followed a redirection. */
  readonly follow: () => void;
}

/** Gives a wrong answer, a late one, or none. */
export type FaultyAnswer = (
  exchange: Exchange,
  component: Component,
  occasion: Occasion,
) => Promise<void> | void;
