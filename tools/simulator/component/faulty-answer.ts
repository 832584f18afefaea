// How a fault answers one exchange.
import type { Component } from './component.js';
import type { Exchange } from './exchange.js';

/** What a fault needs beside the exchange. */
export interface Occasion {
  /** The number of earlier exchanges with a fault. */
  readonly turn: number;
  /** Counts a client that has followed a redirection. */
  readonly follow: () => void;
}

/** Sends a wrong answer, a late one, or none. */
export type FaultyAnswer = (
  exchange: Exchange,
  component: Component,
  occasion: Occasion,
) => Promise<void> | void;
