// The settings of a target whose format is workers.
import { workerRule, words } from '../rules/formats.js';
import { text } from '../rules/rule.js';
import { optional, required } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

const labelName = text(
  /^(?!le$|quantile$|job$|instance$|__)[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  'a label name of at most 64 letters, digits and "_", not "le", "quantile", "job", "instance" or with "__" at its start',
);

export const WORKERS_SETTINGS = {
  segments: required(
    words,
    'Patterns of the server keys of the workers; * matches any characters, ? one',
  ),
  gauges: optional(
    'sum' as const,
    workerRule,
    'How a gauge is shown by default: as the sum, minimum or maximum over the workers, or, with each, as one series for each worker',
  ),
  min: optional([], words, 'Gauges that show the minimum: patterns of variable names'),
  max: optional([], words, 'Gauges that show the maximum: patterns of variable names'),
  each: optional(
    [],
    words,
    'Patterns of the names of gauges and texts that get one series for each worker',
  ),
  workerLabel: optional(
    'worker',
    labelName,
    'The label that names the worker in series with the rule each. Its value is the server key',
  ),
  counters: optional(
    [],
    words,
    'Variables that are counters, although their publisher does not say so: patterns of variable names',
  ),
};

export type WorkersSettings = ValuesOf<typeof WORKERS_SETTINGS>;
