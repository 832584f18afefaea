// Every command-line option, one row each; the parser, --help and the reference page read them.
import { Fault } from '../errors.js';
import { application, line, name, word } from '../rules/formats.js';
import { keyPath, quoted } from '../document/key-path.js';
import type { Rule } from '../rules/rule.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';

export type Overrides = Partial<Settings>;

export interface Option {
  readonly flags: string;
  readonly group: string;
  readonly meaning: string;
  /** The setting that it overrides, where its default is worth showing in the help. */
  readonly setting?: keyof Settings;
  /** Options that cannot stand beside it, by their names in `flags`. */
  readonly conflicts?: readonly string[];
  /**
   * The settings that the option puts over those of the file.
   * @throws Fault USAGE when the argument is not allowed
   */
  readonly overrides: (argument: string) => Overrides;
}

const FILES = 'Files:';
const TARGET = 'Single target:';
const OUTPUT = 'Output:';
const OTHER = 'Other:';

const nothing = () => ({});

export const OPTIONS: readonly Option[] = [
  {
    flags: '--config <path>',
    group: FILES,
    meaning: 'Load a TOML file',
    overrides: checkedBy('--config', word, nothing),
  },
  {
    flags: '--targets-config <path>',
    group: FILES,
    meaning: 'Use the legacy flat target file instead of TOML targets',
    conflicts: ['serverKey', 'instance'],
    overrides: checkedBy('--targets-config', word, nothing),
  },
  {
    flags: '--license-file <path>',
    group: FILES,
    meaning: 'Override license_file; no start without a license',
    overrides: checkedBy('--license-file', word, (licenseFile) => ({ licenseFile })),
  },
  {
    flags: '--app <app>',
    group: TARGET,
    meaning: 'Set the application metric set',
    setting: 'app',
    overrides: checkedBy('--app', application, (app) => ({ app })),
  },
  {
    flags: '--server-key <key>',
    group: TARGET,
    meaning: 'Select a single target; clears TOML targets',
    setting: 'serverKeys',
    overrides: checkedBy('--server-key', name, (key) => ({ serverKeys: Object.freeze([key]) })),
  },
  {
    flags: '--instance <hint>',
    group: TARGET,
    meaning: 'Root hint; switches to single-target mode and clears TOML targets',
    overrides: checkedBy('--instance', line, (instance) => ({ instance })),
  },
  {
    flags: '--enable-metrics-http',
    group: OUTPUT,
    meaning: 'Enable the HTTP listener',
    overrides: () => ({ metricsHttpEnabled: true }),
  },
  {
    flags: '--metrics-port <port>',
    group: OUTPUT,
    meaning: 'Override metrics_port',
    setting: 'metricsPort',
    overrides: checkedBy('--metrics-port', SETTINGS.metricsPort.rule, (metricsPort) => ({
      metricsPort,
    })),
  },
  {
    flags: '--debug',
    group: OUTPUT,
    meaning: 'Enable debug diagnostics even when debug is false in TOML',
    overrides: () => ({ debug: true }),
  },
  {
    flags: '--check-config',
    group: OTHER,
    meaning: 'Check the configuration and exit',
    overrides: nothing,
  },
];

/** An option's effect, behind the rule of its argument. */
function checkedBy<T>(flag: string, rule: Rule<T>, overrides: (value: T) => Overrides) {
  return (argument: string): Overrides => {
    if (argument.startsWith('--'))
      throw new Fault('USAGE', `${flag}: found the option ${quoted(argument)} for its argument`);
    const isNumber = rule.type === 'integer' && /^-?\d{1,20}$/.test(argument);
    const value = rule.read(isNumber ? BigInt(argument) : argument, [], (path, sentence) => {
      throw new Fault('USAGE', `${flag}${keyPath(path)}: ${sentence}`);
    });
    return value === undefined ? {} : overrides(value);
  };
}
