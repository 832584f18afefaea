// The command line of the exporter: its help text, and the parser of its arguments.
import { resolve } from 'node:path';
import { Fault } from '../errors.js';
import { readCommandLine } from '../rules/command-line.js';
import type { OptionValues } from '../rules/command-option.js';
import { OPTIONS } from './options.js';
import { SETTINGS, resolvePaths } from './settings.js';
import type { Settings } from './settings.js';

const PURPOSE = `Reads managed objects from shared memory and exposes them as Prometheus metrics:
over HTTP with --enable-metrics-http, else as snapshots on stdout.`;

/** Example command lines. They work as written in a folder that contains the named files. */
export const EXAMPLES: readonly (readonly [purpose: string, line: string])[] = [
  [
    'Serve the targets of a file at http://localhost:9464/metrics',
    'shm_exporter --config shm_exporter.toml --enable-metrics-http',
  ],
  [
    'Write a license of 30 days for evaluation',
    'shm_license issue --licensee "My company" --days 30 --out license.json',
  ],
  [
    'Print one target every 10 seconds, without a configuration file',
    'shm_exporter --license-file license.json --app adh --server-key 456',
  ],
  [
    'Check a configuration file against the running publishers',
    'shm_exporter --config shm_exporter.toml --check-config --live',
  ],
];

const STATUSES = {
  0: 'success, or ended by a signal',
  1: 'unexpected failure; with --healthy: the exporter does not answer',
  2: 'wrong usage or configuration',
  3: 'license refused',
  4: 'cannot listen, use shared memory or write the output of --once',
  5: 'with --once: a target was not ready',
  6: 'license not valid yet: the clock may be wrong',
  7: 'with --check-config: would start, but without faulty files of targets.d',
};

const REFERENCE = `See README.md, docs/configuration.md and examples/shm_exporter.toml.`;

export type Overrides = Partial<Settings>;

export interface Arguments {
  /** The path of the TOML file, from `--config`. */
  readonly configFile?: string | undefined;
  /** The path of the legacy target file, from `--targets-config`. */
  readonly targetsFile?: string | undefined;
  /** The settings whose values come from options. */
  readonly overrides: Overrides;
}

/** The action of a command line: run, check the configuration, check the running exporter, or print a text. */
type Invocation =
  | {
      readonly kind: 'run';
      readonly arguments: Arguments;
      /** Whether the process prints the pages once and then ends. */
      readonly isOnce: boolean;
    }
  | {
      readonly kind: 'check';
      readonly arguments: Arguments;
      /** Whether the check also reads the segments. */
      readonly isLive: boolean;
    }
  /** Checks that an exporter with these arguments runs and answers. */
  | { readonly kind: 'health'; readonly arguments: Arguments }
  | { readonly kind: 'print'; readonly text: string };

export const PROGRAM = {
  name: 'shm_exporter',
  purpose: PURPOSE,
  options: OPTIONS,
  lastGroup: OPTIONS.checkConfig.group,
  examples: EXAMPLES,
  statuses: STATUSES,
  reference: REFERENCE,
};

/**
 * Reads the arguments after the program's name.
 * @throws Fault USAGE for unknown or conflicting options, and for missing or invalid arguments
 */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const line = readCommandLine(PROGRAM, argv, version);
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const { config, targetsConfig, checkConfig, live, healthy, once } = line.options;
  if (live && !checkConfig) throw new Fault('USAGE', '--live needs --check-config');
  const given = {
    configFile: config,
    targetsFile: targetsConfig,
    overrides: overridesOf(line.options),
  };
  if (healthy) return { kind: 'health', arguments: given };
  return checkConfig
    ? { kind: 'check', arguments: given, isLive: live }
    : { kind: 'run', arguments: given, isOnce: once };
}

/** Makes the paths of the arguments absolute, so that they do not depend on the working directory. */
export const withAbsolutePaths = ({
  configFile,
  targetsFile,
  overrides,
}: Arguments): Arguments => ({
  configFile: configFile && resolve(configFile),
  targetsFile: targetsFile && resolve(targetsFile),
  overrides: resolvePaths(overrides, resolve),
});

/** The settings whose options are given. Other settings keep their values from the file. */
function overridesOf(options: OptionValues<typeof OPTIONS>): Overrides {
  const given = Object.entries(options).filter(
    ([name, value]) => name in SETTINGS && value !== undefined && value !== false,
  );
  const { serverKey, once, textfileDir, logLevelAlias, logFormatAlias } = options;
  return {
    ...(Object.fromEntries(given) as Overrides),
    ...(logLevelAlias !== undefined && { logLevel: logLevelAlias }),
    ...(logFormatAlias !== undefined && { logFormat: logFormatAlias }),
    ...(serverKey !== undefined && { serverKeys: Object.freeze([serverKey]) }),
    ...((once || textfileDir !== undefined) && { metricsHttpEnabled: false }),
  };
}
