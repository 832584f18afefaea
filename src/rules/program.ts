// A program as --help describes it: what it does, its options, examples and exit statuses.
import { Command, Option } from 'commander';
import { effectOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';

export interface Program<O extends CommandOptions> {
  /** As in `shm_license issue`. */
  readonly name: string;
  readonly purpose: string;
  /** What follows the name in the first line of the help; by default the options and the operand. */
  readonly usage?: string;
  readonly options: O;
  /** The heading for --version and --help, where options have headings. */
  readonly lastGroup?: string | undefined;
  /** The name of its only operand, such as `file`; undefined for none. */
  readonly operand?: string | undefined;
  /** Remarks between the options and the examples. */
  readonly remarks?: string;
  /** Command lines that work as written, next to the files that they name. */
  readonly examples: readonly (readonly [purpose: string, line: string])[];
  readonly statuses: Readonly<Record<number, string>>;
  /** Where to read more. */
  readonly reference?: string;
}

/** Wide enough for one line per option, narrow enough for any terminal. */
const HELP_COLUMNS = 80;

/** The parser of a program; what it prints goes to `print`. */
export function parserOf(
  program: Program<CommandOptions>,
  version: string,
  print: (text: string) => void,
): Command {
  const parser = new Command(program.name)
    .description(program.purpose)
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined, // The error has the message as well.
      getOutHelpWidth: () => HELP_COLUMNS,
      getOutHasColors: () => false,
    });
  if (program.operand !== undefined) parser.argument(`<${program.operand}>`);
  if (program.usage !== undefined) parser.usage(program.usage);
  parser.allowExcessArguments(); // We reject them with a better message.
  const options = Object.values(program.options);
  for (const option of options) {
    const added = new Option(option.flags, effectOf(option));
    if (option.isRepeatable) added.argParser(joined);
    parser.addOption(option.group === undefined ? added : added.helpGroup(option.group));
  }
  if (program.lastGroup !== undefined) parser.optionsGroup(program.lastGroup);
  return parser
    .version(version, '--version', 'Print the version and exit')
    .helpOption('--help', 'Print this help and exit')
    .addHelpText('after', helpEnd(program));
}

/** The arguments of a repeated option, as one would be with all items. */
const joined = (argument: string, before: string | undefined): string =>
  before === undefined ? argument : `${before},${argument}`;

export function helpEnd({
  remarks,
  examples,
  statuses,
  reference,
}: Pick<Program<CommandOptions>, 'remarks' | 'examples' | 'statuses' | 'reference'>): string {
  const parts = [
    remarks,
    `Examples:\n${examples.map(([purpose, line]) => `  ${purpose}:\n    ${line}`).join('\n')}`,
    `Exit status:\n${Object.entries(statuses)
      .map(([status, meaning]) => `  ${status}  ${meaning}`)
      .join('\n')}`,
    reference,
  ];
  return `\n${parts.filter((part) => part !== undefined).join('\n\n')}`;
}
