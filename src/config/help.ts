// What --help prints around the options.
import { shown } from '../document/key-path.js';
import type { Option } from './options.js';
import { SETTINGS } from './settings.js';

export const HELP_START = `Reads managed objects from shared memory and exposes them as Prometheus metrics:
over HTTP with --enable-metrics-http, else as snapshots on stdout.`;

/** Command lines that work as they stand, beside the files that they name. */
export const EXAMPLES: readonly (readonly [purpose: string, line: string])[] = [
  [
    'Serve what a file describes at http://localhost:9464/metrics',
    'shm_exporter --config shm_exporter.toml --enable-metrics-http',
  ],
  [
    'Print one target every 10 seconds, without a file',
    'shm_exporter --license-file license.json --app adh --server-key 456',
  ],
  ['Check a file and do nothing else', 'shm_exporter --config shm_exporter.toml --check-config'],
];

export const HELP_END = `
Options override the TOML file, which overrides the defaults.

Examples:
${EXAMPLES.map(([purpose, line]) => `  ${purpose}:\n    ${line}`).join('\n')}

Exit status:
  0  normal end
  1  unexpected failure
  2  wrong usage or configuration
  3  license refused
  4  listener or shared memory cannot be used

In the folder of the package, README.md is the way in, docs/configuration.md
has every setting, and examples/shm_exporter.toml is a file to start from.`;

/** An option's meaning, with the default of the setting that it overrides where that says something. */
export function helpOf({ meaning, setting }: Option): string {
  if (setting === undefined) return meaning;
  const { fallback } = SETTINGS[setting];
  const values = Array.isArray(fallback) ? fallback : [fallback];
  const texts = values.map((value) => (typeof value === 'number' ? String(value) : bare(value)));
  return `${meaning} (default: ${texts.join(', ')})`;
}

const bare = (value: unknown): string => (typeof value === 'string' ? value : shown(value));
