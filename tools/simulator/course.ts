// How the value of a simulated variable changes, chosen by the catalogue's row.
import type { Reading } from '#app/catalogue/row.js';
import type { FamilyFacts } from '#app/model.js';

export type Course =
  /** Rises by up to `step` per change. */
  | { readonly kind: 'total'; readonly step: number }
  /** Counts rare events. */
  | { readonly kind: 'mishaps' }
  /** Wanders between 0 and `most`. */
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
/** Limits are above the levels that they limit. */
const LIMITS: Readonly<Record<string, number>> = { bytes: 2 ** 28, clients: 100 };

const MISHAPS =
  /error|fail|overflow|disconnect|dismount|denial|reject|timeout|fault|bad|lost|gap|anomal|retransmit|congestion|reboot|recover|throttle|switchover|closes|threshold/;
const CONSTANTS: Readonly<Record<string, number>> = { processID: 412, daysBeforeExpired: 90 };

export function courseOf({ name, help }: FamilyFacts, reading: Reading): Course {
  const { variable, types, unit = '', conversion } = reading;
  if (types[0] === 'u64')
    return MISHAPS.test(name) ? { kind: 'mishaps' } : { kind: 'total', step: STEPS[unit] ?? 20 };
  if (variable === 'heartbeat') return { kind: 'total', step: 1 };
  // Flags show the healthy state: what should be up is, and nothing has failed.
  if (/^1 (when|while)\b/.test(help))
    return { kind: 'constant', value: /is up|is enabled|publishes/.test(help) ? 1 : 0 };
  const constant =
    CONSTANTS[variable] ??
    (/^max|Size$|Limit$|Capacity$/.test(variable) ? (LIMITS[unit] ?? 10_000) : undefined);
  if (constant !== undefined) return { kind: 'constant', value: constant };
  return { kind: 'level', most: conversion?.divide === 100 ? 100 : (MAX_OF_UNIT[unit] ?? 100) };
}
