// The table of command-line options, for the parser, --help and the reference page.
import { application, line, name, word } from '../rules/formats.js';
import { flagOption, valueOption } from '../rules/command-option.js';
import { integer } from '../rules/rule.js';
import type { Rule } from '../rules/rule.js';
import { keyOf } from '../rules/table.js';
import type { Field } from '../rules/table.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';

const FILES = { group: 'Files:' };
const TARGET = { group: 'Single target:' };
const OUTPUT = { group: 'Output:' };
const OTHER = { group: 'Other:' };

/**
 * The applications that shell completion offers: those with a built-in catalogue, and Varnish. Others are allowed
 * too.
 */
export const KNOWN_APPS = ['ads', 'adh', 'ats', 'jvm', 'varnish'];

const RARE = { isRare: true };

/** The properties of an option that overrides a setting. */
const overrides = (name: keyof Settings) => {
  const { fallback }: Field<unknown> = SETTINGS[name];
  return {
    setting: keyOf(name),
    shownDefault: fallback === false ? '' : [fallback].flat().join(', '),
  };
};

/** Another spelling of an option, as other exporters have it. */
const alias = <T>(flags: string, rule: Rule<T>, of: string) =>
  valueOption(flags, rule, `Same as ${of}`, { ...OUTPUT, ...RARE, conflicts: [of] });

/** The largest `http_max_scrapes`. It has no effect, since connections cannot exceed it. */
const NO_LIMIT = 65_535;
const scrapeCount = integer(0, NO_LIMIT);
/** A number of concurrent scrapes as other exporters take it: 0 means no limit. */
const maxRequests: Rule<number> = {
  ...scrapeCount,
  read(raw, path, report) {
    const count = scrapeCount.read(raw, path, report);
    return count === 0 ? NO_LIMIT : count;
  },
};

/** The options. An option whose value replaces the value of a setting has the name of the setting. */
export const OPTIONS = {
  config: valueOption('--config <path>', word, 'Load a TOML file', FILES),
  licenseFile: valueOption('--license-file <path>', word, 'License file; required to start', {
    ...FILES,
    ...overrides('licenseFile'),
  }),
  targetsConfig: valueOption(
    '--targets-config <path>',
    word,
    'Use the legacy flat target file instead of TOML targets',
    { ...FILES, ...RARE, conflicts: ['--server-key', '--instance'] },
  ),
  app: valueOption('--app <app>', application, 'Set the application metric set', {
    ...TARGET,
    ...overrides('app'),
    choices: KNOWN_APPS,
  }),
  serverKey: valueOption(
    '--server-key <key>',
    name,
    'Select a single target; clears TOML targets',
    { ...TARGET, ...overrides('serverKeys') },
  ),
  instance: valueOption(
    '--instance <hint>',
    line,
    'Root hint; switches to single-target mode and clears TOML targets',
    { ...TARGET, ...RARE, ...overrides('instance') },
  ),
  metricsHttpEnabled: flagOption('--enable-metrics-http', 'Enable the HTTP listener', {
    ...OUTPUT,
    ...overrides('metricsHttpEnabled'),
  }),
  metricsPort: valueOption(
    '--metrics-port <port>',
    SETTINGS.metricsPort.rule,
    'Port of the HTTP listener',
    { ...OUTPUT, ...overrides('metricsPort') },
  ),
  metricsListenAddresses: valueOption(
    '--web.listen-address <address>',
    SETTINGS.metricsListenAddresses.rule,
    'Listen address such as :9464; may be repeated',
    { ...OUTPUT, ...overrides('metricsListenAddresses') },
  ),
  webConfigFile: valueOption(
    '--web.config.file <path>',
    word,
    'TLS and passwords of the HTTP listener',
    { ...OUTPUT, ...overrides('webConfigFile') },
  ),
  metricsPath: valueOption(
    '--web.telemetry-path <path>',
    SETTINGS.metricsPath.rule,
    'Base path of scrapes',
    { ...OUTPUT, ...RARE, ...overrides('metricsPath') },
  ),
  httpMaxScrapes: valueOption(
    '--web.max-requests <number>',
    maxRequests,
    'Maximum number of concurrent scrapes; 0 means no limit',
    { ...OUTPUT, ...RARE, ...overrides('httpMaxScrapes') },
  ),
  pagesWithoutInternalMetrics: flagOption(
    '--web.disable-exporter-metrics',
    'Leave the internal metrics off the pages of targets',
    { ...OUTPUT, ...RARE, ...overrides('pagesWithoutInternalMetrics') },
  ),
  metricsSystemdSocket: flagOption('--web.systemd-socket', 'Listen on the sockets of systemd', {
    ...OUTPUT,
    ...RARE,
    ...overrides('metricsSystemdSocket'),
  }),
  once: flagOption('--once', 'Print one snapshot within one interval; exit', {
    ...OUTPUT,
    conflicts: ['--enable-metrics-http'],
  }),
  stdoutFormat: valueOption(
    '--stdout-format <format>',
    SETTINGS.stdoutFormat.rule,
    'Format of snapshots: text, json or merged',
    { ...OUTPUT, ...RARE, ...overrides('stdoutFormat') },
  ),
  textfileDir: valueOption(
    '--textfile <dir>',
    word,
    'Keep the metrics of all targets in a file for node_exporter',
    {
      ...OUTPUT,
      ...RARE,
      ...overrides('textfileDir'),
      conflicts: ['--enable-metrics-http'],
    },
  ),
  logLevel: valueOption(
    '--log-level <level>',
    SETTINGS.logLevel.rule,
    'Lowest level that is logged',
    { ...OUTPUT, ...overrides('logLevel') },
  ),
  logFormat: valueOption(
    '--log-format <format>',
    SETTINGS.logFormat.rule,
    'Format of log lines: text, logfmt or json',
    { ...OUTPUT, ...RARE, ...overrides('logFormat') },
  ),
  logLevelAlias: alias('--log.level <level>', SETTINGS.logLevel.rule, '--log-level'),
  logFormatAlias: alias('--log.format <format>', SETTINGS.logFormat.rule, '--log-format'),
  debug: flagOption('--debug', 'Enable debug diagnostics even when debug is false in TOML', {
    ...OUTPUT,
    ...RARE,
    ...overrides('debug'),
  }),
  checkConfig: flagOption('--check-config', 'Check the configuration and the license; exit', OTHER),
  healthy: flagOption('--healthy', 'Ask the running exporter whether it answers; exit', {
    ...OTHER,
    ...RARE,
    conflicts: ['--check-config', '--once'],
  }),
  live: flagOption('--live', 'With --check-config: also read every segment', OTHER),
};
