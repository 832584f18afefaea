// The programs that a release installs, as their --help describes them.
import { PROGRAM as BRIDGE } from '../../dist/bridge/settings/options.js';
import { PROGRAM as EXPORTER } from '../../dist/config/arguments.js';
import { COMMANDS, PROGRAM as LICENSE } from '../../dist/license/options.js';
import { PROGRAM as SIMULATOR } from '../../dist/simulator/options.js';

/** Each with its commands, by name; most have none. */
export const PROGRAMS = [
  { program: EXPORTER, commands: {} },
  { program: BRIDGE, commands: {} },
  { program: LICENSE, commands: COMMANDS },
  { program: SIMULATOR, commands: {} },
];

export const NAMES = PROGRAMS.map(({ program }) => program.name);

const BUILT_IN = [
  { flags: '--version', meaning: 'Print the version and exit' },
  { flags: '--help', meaning: 'Print this help and exit' },
];

/** The options of a program as pages show them, --version and --help last. */
export const optionsOf = ({ options, lastGroup }) => [
  ...Object.values(options),
  ...BUILT_IN.map((option) => ({ ...option, group: lastGroup, shownDefault: '' })),
];

/** `--server-key` of `--server-key <key>`, and what its argument is: a file, a folder, text or none. */
export function formOf({ flags }) {
  const [name, placeholder = ''] = flags.split(' ');
  if (placeholder === '') return { name, argument: 'none' };
  if (/^<(path|file)>$/.test(placeholder)) return { name, argument: 'file' };
  return { name, argument: placeholder === '<dir>' ? 'folder' : 'text' };
}
