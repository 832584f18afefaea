// How simulated values change over time, and repeatable random numbers.
import type { RowInput } from '#app/catalogue/row.js';
import type { FamilyMetadata } from '#app/model.js';

export type Course =
  /** A counter that rises by up to `step` per change. */
  | { readonly kind: 'total'; readonly step: number }
  /** A counter that rises rarely, as counters of errors do. */
  | { readonly kind: 'mishaps' }
  /** A gauge that varies between 0 and `most`. */
  | { readonly kind: 'level'; readonly most: number }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'fixed'; readonly text: string }
  | { readonly kind: 'distribution' };

const STEPS: Readonly<Record<string, number>> = {
  bytes: 60_000,
  messages: 400,
  updates: 400,
  calculations: 200,
  tasks: 200,
  writes: 200,
  seconds: 250,
};
const MAX_OF_UNIT: Readonly<Record<string, number>> = {
  bytes: 50_000_000,
  clients: 40,
  fields: 50_000,
  items: 5000,
  models: 200,
  objects: 5000,
  records: 5000,
  seconds: 2000,
  servers: 4,
  sessions: 20,
  users: 30,
  variables: 20_000,
};
/** The constant values of metrics that state a limit, by unit. They exceed all simulated values of that unit. */
const LIMITS: Readonly<Record<string, number>> = { bytes: 2 ** 28, clients: 100 };

const MISHAPS =
  /error|fail|overflow|disconnect|dismount|denial|reject|timeout|fault|bad|lost|gap|anomal|retransmit|congestion|reboot|recover|throttle|switchover|closes|threshold/;
const CONSTANTS: Readonly<Record<string, number>> = { processID: 412, daysBeforeExpired: 90 };

/** The course of a variable, guessed from the metric that reads it. */
export function courseOf({ name, help }: FamilyMetadata, input: RowInput): Course {
  const { variable, types, unit = '', conversion } = input;
  if (types[0] === 'u64')
    return MISHAPS.test(name) ? { kind: 'mishaps' } : { kind: 'total', step: STEPS[unit] ?? 20 };
  if (variable === 'heartbeat') return { kind: 'total', step: 1 };
  // Flags show a healthy application: everything is up, and nothing has failed.
  if (/^1 (when|while)\b/.test(help))
    return { kind: 'constant', value: /is up|is enabled|publishes/.test(help) ? 1 : 0 };
  const constant =
    CONSTANTS[variable] ??
    (/^max|Size$|Limit$|Capacity$/.test(variable) ? (LIMITS[unit] ?? 10_000) : undefined);
  if (constant !== undefined) return { kind: 'constant', value: constant };
  return { kind: 'level', most: conversion?.divide === 100 ? 100 : (MAX_OF_UNIT[unit] ?? 100) };
}

/** The seeded random number generator mulberry32. The same seed always gives the same tree and values. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a random integer from 0 (inclusive) to `end` (exclusive). */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }
}

/** The largest step of a random walk, as a fraction of its range. */
const STRIDE = 1 / 20;

export class RandomWalk {
  readonly #most: number;
  readonly #stride: number;
  readonly #perUnit: number;
  readonly #random: Random;
  /** The current value in multiples of the grain, so that sums are exact. */
  #at: number;

  /**
   * Starts in the middle half of the range from 0 to `most`.
   * @param grain the least difference between two values
   */
  constructor(most: number, grain: number, random: Random) {
    this.#perUnit = Math.round(1 / grain);
    this.#random = random;
    this.#most = Math.max(1, Math.round(most * this.#perUnit));
    this.#stride = Math.max(1, Math.floor(this.#most * STRIDE));
    this.#at = Math.round(this.#most / 4 + (random.next() * this.#most) / 2);
  }

  get value(): number {
    return this.#at / this.#perUnit;
  }

  move(): void {
    const random = this.#random;
    const step = 1 + random.below(this.#stride);
    const isUp = this.#at < step || (this.#at + step <= this.#most && random.below(2) === 1);
    this.#at += isUp ? step : -step;
  }
}
