// Every command-line option of the exporter; the parser, --help and the reference page read them.
import { application, line, name, word } from '../rules/formats.js';
import { flagOption, optionalOption } from '../rules/command-option.js';
import { SETTINGS } from './settings.js';

const FILES = { group: 'Files:' };
const TARGET = { group: 'Single target:' };
const OUTPUT = { group: 'Output:' };
const OTHER = { group: 'Other:' };

const shown = (fallback: unknown): string => [fallback].flat().join(', ');

/** Options override settings, whose defaults the help shows where they are useful. */
export const OPTIONS = {
  config: optionalOption('--config <path>', word, 'Load a TOML file', FILES),
  targetsConfig: optionalOption(
    '--targets-config <path>',
    word,
    'Use the legacy flat target file instead of TOML targets',
    { ...FILES, conflicts: ['--server-key', '--instance'] },
  ),
  licenseFile: optionalOption(
    '--license-file <path>',
    word,
    'Override license_file; no start without a license',
    FILES,
  ),
  app: optionalOption('--app <app>', application, 'Set the application metric set', {
    ...TARGET,
    shownDefault: shown(SETTINGS.app.fallback),
  }),
  serverKey: optionalOption(
    '--server-key <key>',
    name,
    'Select a single target; clears TOML targets',
    { ...TARGET, shownDefault: shown(SETTINGS.serverKeys.fallback) },
  ),
  instance: optionalOption(
    '--instance <hint>',
    line,
    'Root hint; switches to single-target mode and clears TOML targets',
    TARGET,
  ),
  enableMetricsHttp: flagOption('--enable-metrics-http', 'Enable the HTTP listener', OUTPUT),
  metricsPort: optionalOption(
    '--metrics-port <port>',
    SETTINGS.metricsPort.rule,
    'Override metrics_port',
    { ...OUTPUT, shownDefault: shown(SETTINGS.metricsPort.fallback) },
  ),
  debug: flagOption('--debug', 'Enable debug diagnostics even when debug is false in TOML', OUTPUT),
  webListenAddress: optionalOption(
    '--web.listen-address <address>',
    SETTINGS.metricsListenAddresses.rule,
    'Override metrics_listen_addresses; may be repeated',
    OUTPUT,
  ),
  webSystemdSocket: flagOption('--web.systemd-socket', 'Listen on the sockets of systemd', OUTPUT),
  webConfigFile: optionalOption(
    '--web.config.file <path>',
    word,
    'Override web_config_file: TLS and passwords',
    OUTPUT,
  ),
  textfile: optionalOption(
    '--textfile <dir>',
    word,
    'Keep the metrics of all targets in a file for node_exporter',
    { ...OUTPUT, conflicts: ['--enable-metrics-http'] },
  ),
  stdoutFormat: optionalOption(
    '--stdout-format <format>',
    SETTINGS.stdoutFormat.rule,
    'Override stdout_format',
    { ...OUTPUT, shownDefault: shown(SETTINGS.stdoutFormat.fallback) },
  ),
  once: flagOption(
    '--once',
    'Print one snapshot and exit, with status 5 if a target is not ready',
    {
      ...OUTPUT,
      conflicts: ['--enable-metrics-http'],
    },
  ),
  logLevel: optionalOption('--log-level <level>', SETTINGS.logLevel.rule, 'Override log_level', {
    ...OUTPUT,
    shownDefault: shown(SETTINGS.logLevel.fallback),
  }),
  logFormat: optionalOption(
    '--log-format <format>',
    SETTINGS.logFormat.rule,
    'Override log_format',
    { ...OUTPUT, shownDefault: shown(SETTINGS.logFormat.fallback) },
  ),
  checkConfig: flagOption(
    '--check-config',
    'Check the configuration and the license, report every fault, and exit',
    OTHER,
  ),
  live: flagOption(
    '--live',
    'With --check-config: compare the configuration with the existing segments',
    OTHER,
  ),
};
