// The programs that a release installs, as their --help describes them.
import { PROGRAM as BRIDGE } from '../../dist/bridge/settings/options.js';
import { PROGRAM as DUMP } from '../../dist/dump/options.js';
import { PROGRAM as EXPORTER } from '../../dist/config/arguments.js';
import { COMMANDS, PROGRAM as LICENSE } from '../../dist/license/options.js';
import { builtInOptions } from '../../dist/rules/command-option.js';
import { PROGRAM as SIMULATOR } from '../../dist/simulator/options.js';

/** Each program with its commands, by name. Most programs have no commands. */
export const PROGRAMS = [
  { program: EXPORTER, commands: {} },
  { program: BRIDGE, commands: {} },
  { program: LICENSE, commands: COMMANDS },
  { program: SIMULATOR, commands: {} },
  { program: DUMP, commands: {} },
];

export const NAMES = PROGRAMS.map(({ program }) => program.name);

/** The options of a program in the order of its pages: its own, then --help and others that every program has. */
export const optionsOf = (program) => [
  ...Object.values(program.options),
  ...builtInOptions(program),
];

/** The name of an option, such as `--server-key`, and the kind of its argument: file, folder, text or none. */
export function formOf({ flags }) {
  const [name, placeholder = ''] = flags.split(' ');
  if (placeholder === '') return { name, argument: 'none' };
  if (/^<(path|file)>$/.test(placeholder)) return { name, argument: 'file' };
  return { name, argument: placeholder === '<dir>' ? 'folder' : 'text' };
}
