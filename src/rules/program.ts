// The description of a program, its command-line parser, and its help text.
import { Command, Option } from 'commander';
import { builtInOptions, effectOf } from './command-option.js';
import type { CommandOption, CommandOptions } from './command-option.js';

export interface Program<O extends CommandOptions> {
  /** The program, with its command if it has one, such as `shm_license issue`. */
  readonly name: string;
  readonly purpose: string;
  /** The usage line after the name. By default `usageOf` makes it from the options. */
  readonly usage?: string;
  readonly options: O;
  /** The heading above --version and --help, for programs whose options have headings. */
  readonly lastGroup?: string | undefined;
  /** The name of the program's only operand, such as `file`; undefined for none. */
  readonly operand?: string | undefined;
  /** Remarks between the options and the examples. */
  readonly remarks?: string;
  /** Command lines that work as written, in a folder with the files that they name. */
  readonly examples: readonly (readonly [purpose: string, line: string])[];
  readonly statuses: Readonly<Record<number, string>>;
  /** The last sentence of the help, which names further documentation. */
  readonly reference: string;
}

/** The width of help texts: wide enough for one line per option, narrow enough for any terminal. */
const HELP_COLUMNS = 80;

/** Makes the parser of a program. @param print gets the texts of --version and --help */
export function parserOf(
  program: Program<CommandOptions>,
  version: string,
  print: (text: string) => void,
): Command {
  const parser = new Command(program.name)
    .description(program.purpose)
    .usage(usageOf(program))
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined, // The error has the message as well.
      getOutHelpWidth: () => HELP_COLUMNS,
      getOutHasColors: () => false,
    });
  if (program.operand !== undefined) parser.argument(`<${program.operand}>`);
  parser.allowExcessArguments(); // We reject them with a better message.
  const [versionOption, ...others] = builtInOptions(program);
  for (const option of Object.values(program.options)) parser.addOption(parsed(option));
  if (program.lastGroup !== undefined) parser.optionsGroup(program.lastGroup);
  parser.version(version, versionOption.flags, versionOption.meaning);
  for (const option of others) parser.addOption(parsed(option));
  parser.helpOption(false).addHelpText('after', helpEnd(program));
  parser.on('option:help', () => parser.help());
  parser.on('option:help-all', () => {
    for (const option of parser.options) option.hidden = false;
    parser.help();
  });
  return parser;
}

/** The usage line: required options, `[options]` and the operand. */
export function usageOf({ usage, options, operand }: Program<CommandOptions>): string {
  if (usage !== undefined) return usage;
  const required = Object.values(options).filter(({ isRequired }) => isRequired);
  const parts = [...required.map(({ flags }) => flags), '[options]'];
  return [...parts, ...(operand === undefined ? [] : [`<${operand}>`])].join(' ');
}

function parsed(option: CommandOption<unknown>): Option {
  const added = new Option(option.flags, effectOf(option)).hideHelp(option.isRare);
  if (option.isRepeatable) added.argParser(joined);
  return option.group === undefined ? added : added.helpGroup(option.group);
}

/** Joins the arguments of a repeated option to one list. */
const joined = (argument: string, before: string | undefined): string =>
  before === undefined ? argument : `${before},${argument}`;

/** The help text after the options. */
function helpEnd({
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
