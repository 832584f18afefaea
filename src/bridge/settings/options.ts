// The command-line options of the bridge, and the texts of --help.
import { flagOption, requiredOption, valueOption } from '../../rules/command-option.js';
import { word } from '../../rules/formats.js';
import { BRIDGE } from './component-table.js';

export const OPTIONS = {
  config: requiredOption('--config <path>', word, 'TOML file with the components'),
  checkConfig: flagOption('--check-config', 'Check the configuration and exit', {
    conflicts: ['--once'],
  }),
  once: flagOption('--once', 'Poll each component once, print what would be published, and exit'),
  component: valueOption('--component <name>', word, 'Poll and publish only this component'),
  debug: flagOption('--debug', 'Log every poll even when debug is false in TOML', {
    setting: 'debug',
  }),
  logLevel: valueOption(
    '--log-level <level>',
    BRIDGE.logLevel.rule,
    'Lowest level that is logged',
    {
      setting: 'log_level',
      shownDefault: String(BRIDGE.logLevel.fallback),
    },
  ),
  logFormat: valueOption(
    '--log-format <format>',
    BRIDGE.logFormat.rule,
    'Format of log lines: text, logfmt or json',
    {
      setting: 'log_format',
      shownDefault: String(BRIDGE.logFormat.fallback),
    },
  ),
};

export const PROGRAM = {
  name: 'shm_bridge',
  purpose: `Polls the JSON view of ADS and ADH components over HTTP and publishes their
managed objects in shared memory, where shm_exporter reads them.`,
  options: OPTIONS,
  remarks: `--once prints a scenario for each component that answers;
shm_simulator --scenario FILE can publish the scenario.`,
  examples: [
    ['Check a configuration file', 'shm_bridge --config shm_bridge.toml --check-config'],
    [
      'Poll one component once, and save its tree',
      'shm_bridge --config shm_bridge.toml --once --component ads > tree.json',
    ],
    ['Publish until a signal ends the program', 'shm_bridge --config shm_bridge.toml'],
  ] as const,
  statuses: {
    0: 'success, or ended by a signal',
    1: 'unexpected failure; with --once: a poll failed',
    2: 'wrong usage or configuration',
    4: 'shared memory cannot be used',
  },
  reference: `In the folder of the package, docs/bridge.md is the guide, and
docs/bridge-configuration.md describes every setting.`,
};
