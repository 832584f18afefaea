// Reads the command line into a value; prints nothing and ends nothing.
import { Command, Option } from 'commander';
import { readCommandLine } from '../rules/command-line.js';
import { HELP_END, HELP_START, helpOf } from './help.js';
import { OPTIONS } from './options.js';
import type { Overrides } from './options.js';

export interface Arguments {
  /** The TOML file, as given with `--config`. */
  readonly configFile?: string | undefined;
  /** The legacy target file, as given with `--targets-config`. */
  readonly targetsFile?: string | undefined;
  /** What the options put over the settings of the file. */
  readonly overrides: Overrides;
}

/** What the user asks for: a run, a check of the configuration, or only a text. */
export type Invocation =
  | { readonly kind: 'run' | 'check'; readonly arguments: Arguments }
  | { readonly kind: 'print'; readonly text: string };

/**
 * Reads the arguments after the program's name. `version` is what `--version` prints.
 * @throws Fault USAGE for unknown options, missing or refused arguments, and options at odds
 */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const line = readCommandLine(programOf(), argv, { version, helpEnd: HELP_END });
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const given = line.options;
  const overrides = OPTIONS.reduce<Overrides>((sofar, row) => {
    const argument = given[new Option(row.flags).attributeName()];
    return argument === undefined ? sofar : { ...sofar, ...row.overrides(String(argument)) };
  }, {});
  const fileOf = (name: string) => {
    const file = given[name];
    return file === undefined ? undefined : String(file);
  };
  return {
    kind: given['checkConfig'] === undefined ? 'run' : 'check',
    arguments: {
      configFile: fileOf('config'),
      targetsFile: fileOf('targetsConfig'),
      overrides,
    },
  };
}

function programOf(): Command {
  const program = new Command('shm_exporter').description(HELP_START);
  for (const row of OPTIONS) {
    const option = new Option(row.flags, helpOf(row)).helpGroup(row.group);
    program.addOption(option.conflicts([...(row.conflicts ?? [])]));
  }
  return program.optionsGroup('Other:');
}
