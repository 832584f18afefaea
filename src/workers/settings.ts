// The settings of a target whose format is workers.
import { FOLD_RULES } from '../foreign/fold.js';
import { words } from '../rules/formats.js';
import { oneOf } from '../rules/rule.js';
import { optional, required } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

export const WORKERS_SETTINGS = {
  segments: required(
    words,
    'Patterns of the server keys of the workers; * matches any characters, ? one',
  ),
  gauges: optional(
    'sum' as const,
    oneOf(...FOLD_RULES),
    'The value of a gauge: the sum, the minimum or the maximum over the workers',
  ),
  min: optional([], words, 'Gauges that show the minimum: patterns of variable names'),
  max: optional([], words, 'Gauges that show the maximum: patterns of variable names'),
  counters: optional(
    [],
    words,
    'Variables that are counters, although their publisher does not say so: patterns of variable names',
  ),
};

export type WorkersSettings = ValuesOf<typeof WORKERS_SETTINGS>;
