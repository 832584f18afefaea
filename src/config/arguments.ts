// Reads the command line into a value; prints nothing and ends nothing.
import { Command, CommanderError, Option } from 'commander';
import { Fault } from '../errors.js';
import { quoted } from '../document/key-path.js';
import { HELP_COLUMNS, HELP_END, HELP_START, helpOf } from './help.js';
import { OPTIONS } from './options.js';
import type { Overrides } from './options.js';
import { usageSentence } from '../rules/usage.js';

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

const KNOWN = [...OPTIONS.map(({ flags }) => flags), '--version', '--help'];

/**
 * Reads the arguments after the program's name. `version` is what `--version` prints.
 * @throws Fault USAGE for unknown options, missing or refused arguments, and options at odds
 */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const printed: string[] = [];
  const program = programOf(version, (text) => printed.push(text));
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { kind: 'print', text: printed.join('') };
    throw new Fault('USAGE', usageSentence(thrown, KNOWN), { cause: thrown });
  }
  const [stray] = program.args;
  if (stray !== undefined)
    throw new Fault('USAGE', `found ${quoted(stray)}, allowed are only options; see --help`);
  const given: Readonly<Record<string, string | true>> = program.opts();
  const overrides = OPTIONS.reduce<Overrides>((sofar, row) => {
    const argument = given[new Option(row.flags).attributeName()];
    return argument === undefined ? sofar : { ...sofar, ...row.overrides(String(argument)) };
  }, {});
  const { config, targetsConfig, checkConfig } = program.opts<{
    config?: string;
    targetsConfig?: string;
    checkConfig?: true;
  }>();
  return {
    kind: checkConfig ? 'check' : 'run',
    arguments: { configFile: config, targetsFile: targetsConfig, overrides },
  };
}

function programOf(version: string, print: (text: string) => void): Command {
  const program = new Command('shm_exporter')
    .description(HELP_START)
    .allowExcessArguments() // Refused here in a better sentence.
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined, // The message is on the error as well.
      getOutHelpWidth: () => HELP_COLUMNS,
      getOutHasColors: () => false,
    });
  for (const row of OPTIONS) {
    const option = new Option(row.flags, helpOf(row)).helpGroup(row.group);
    program.addOption(option.conflicts([...(row.conflicts ?? [])]));
  }
  return program
    .optionsGroup('Other:')
    .version(version, '--version', 'Print the version')
    .helpOption('--help', 'Print this help')
    .addHelpText('after', HELP_END);
}
