// Reads a command line by options alone; prints nothing and ends nothing.
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { quoted } from '../document/key-path.js';
import { Fault } from '../errors.js';
import { usageSentence } from './usage.js';

/** Wide enough for one line an option, narrow enough for any terminal. */
const HELP_COLUMNS = 80;

/** The options that were given, by their names in camel case, or a text that was asked for. */
export type CommandLine =
  | { readonly kind: 'options'; readonly options: Readonly<Record<string, string | true>> }
  | { readonly kind: 'text'; readonly text: string };

/** What every program of ours has, beside its own options. */
export interface ProgramTexts {
  readonly version: string;
  /** What --help prints behind the options. */
  readonly helpEnd: string;
}

/**
 * Reads the arguments after the program's name with a program that has its options.
 * @throws Fault USAGE for unknown options, missing arguments, options at odds, and what is no option
 */
export function readCommandLine(
  program: Command,
  argv: readonly string[],
  { version, helpEnd }: ProgramTexts,
): CommandLine {
  const printed: string[] = [];
  program
    .allowExcessArguments() // Refused here in a better sentence.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: () => undefined, // The message is on the error as well.
      getOutHelpWidth: () => HELP_COLUMNS,
      getOutHasColors: () => false,
    })
    .version(version, '--version', 'Print the version')
    .helpOption('--help', 'Print this help')
    .addHelpText('after', helpEnd);
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { kind: 'text', text: printed.join('') };
    const known = [...program.options.map(({ flags }) => flags), '--help'];
    throw new Fault('USAGE', usageSentence(thrown, known), { cause: thrown });
  }
  const [stray] = program.args;
  if (stray !== undefined)
    throw new Fault('USAGE', `found ${quoted(stray)}, allowed: only options; see --help`);
  return { kind: 'options', options: program.opts() };
}
