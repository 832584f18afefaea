// Parses a command line into values; prints nothing and never exits.
import { CommanderError, Option } from 'commander';
import type { Command } from 'commander';
import { quoted } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { Fault } from '../errors.js';
import { builtInOptions, nameInMessages, nameOf } from './command-option.js';
import type { CommandOption, CommandOptions, OptionValues } from './command-option.js';
import { parserOf } from './program.js';
import type { Program } from './program.js';

function usageSentence(
  { code, message }: CommanderError,
  options: readonly CommandOption<unknown>[],
): string {
  const [, named = ''] = /'(.*?)'(?:$| argument missing|\n)/s.exec(message) ?? [];
  if (code === 'commander.optionMissingArgument') {
    const called = options.find(({ flags }) => flags === named) ?? { flags: named, choices: [] };
    return `${nameInMessages(called)}: found nothing, needed: ${neededBy(called, named)}`;
  }
  if (code === 'commander.missingArgument') return `found nothing, needed: <${named}>; see --help`;
  if (code !== 'commander.unknownOption') return message.replace(/^error: /, '');
  return unknownOption(named, options);
}

/** Describes the argument that an option needs, with its allowed words. */
function neededBy({ choices }: Pick<CommandOption<unknown>, 'choices'>, flags: string): string {
  const placeholder = flags.split(' ')[1] ?? '';
  return choices.length === 0 ? placeholder : `${placeholder}, such as ${choices.join(' or ')}`;
}

function unknownOption(given: string, options: readonly CommandOption<unknown>[]): string {
  const [name = '', ...values] = given.split('=');
  const known = options.find((option) => nameOf(option) === name);
  if (known !== undefined)
    return `${nameInMessages(known)}: found ${quoted(values.join('='))}, allowed: no argument`;
  const guess = hint(name, options.map(nameOf));
  return `unknown option ${quoted(given)}${guess === '' ? '; see --help' : guess}`;
}

/** The values of the options and the operand, or the text of --version or --help. */
export type CommandLine<O extends CommandOptions> =
  | { readonly kind: 'given'; readonly options: OptionValues<O>; readonly operand: string }
  | { readonly kind: 'text'; readonly text: string };

/** The key and argument of an option. The argument is true for a flag, undefined if the option is not given. */
type ParsedOption = readonly [
  key: string,
  option: CommandOption<unknown>,
  argument: string | true | undefined,
];

/**
 * Reads the arguments after the program's name.
 * @throws Fault USAGE for unknown, missing and conflicting options, and for invalid arguments
 */
export function readCommandLine<O extends CommandOptions>(
  program: Program<O>,
  argv: readonly string[],
  version: string,
): CommandLine<O> {
  const printed: string[] = [];
  const parser = parserOf(program, version, (text) => printed.push(text));
  if (isPrinting(parser, argv, program)) return { kind: 'text', text: printed.join('') };
  const operand = operandOf(program, parser.args);
  const given = parser.opts<Record<string, string | true | undefined>>();
  const found = Object.entries(program.options).map(([key, option]): ParsedOption => [
    key,
    option,
    given[new Option(option.flags).attributeName()],
  ]);
  refuseConflicts(found);
  const values = Object.fromEntries(found.map((each) => [each[0], valueOf(each)]));
  return { kind: 'given', options: values as OptionValues<O>, operand };
}

/** Parses the arguments. Returns true if they ask for --version or --help. */
function isPrinting(
  parser: Command,
  argv: readonly string[],
  program: Program<CommandOptions>,
): boolean {
  try {
    parser.parse(argv, { from: 'user' });
    return false;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return true;
    const known = [...Object.values(program.options), ...builtInOptions(program)];
    throw new Fault('USAGE', usageSentence(thrown, known), { cause: thrown });
  }
}

function valueOf([, option, argument]: ParsedOption): unknown {
  if (argument !== undefined) return option.read(argument);
  if (!option.isRequired) return option.fallback;
  throw new Fault('USAGE', `${nameOf(option)}: found nothing, needed: ${option.flags}`);
}

function operandOf(program: Program<CommandOptions>, args: readonly string[]): string {
  const { operand } = program;
  const [first, second] = args;
  const stray = operand === undefined ? first : second;
  const allowed = operand === undefined ? 'options' : `options and one <${operand}>`;
  if (stray !== undefined)
    throw new Fault(
      'USAGE',
      `found ${quoted(stray)}${optionFor(program, stray)}, allowed: only ${allowed}; see --help`,
    );
  return first ?? '';
}

/** Suggests the option that is probably missing before a stray word; empty for none. */
function optionFor({ options }: Program<CommandOptions>, word: string): string {
  const names = Object.values(options).map(nameOf);
  const name = /[./]/.test(word) ? '--config' : '--server-key';
  const asArgument =
    word !== '' && names.includes(name) ? ` (did you mean ${name} ${quoted(word)}?)` : '';
  return hint(`--${word}`, names) || asArgument;
}

function refuseConflicts(found: readonly ParsedOption[]): void {
  const given = found.flatMap(([, option, argument]) => (argument === undefined ? [] : [option]));
  for (const option of given)
    for (const other of given)
      if (option.conflicts?.includes(nameOf(other)) === true)
        throw new Fault('USAGE', `${nameOf(option)} cannot be used with ${nameOf(other)}`);
}

/** A command and its arguments, or the text of --version or --help. */
type ChosenCommand =
  | { readonly kind: 'command'; readonly name: string; readonly argv: readonly string[] }
  | Extract<CommandLine<CommandOptions>, { kind: 'text' }>;

/**
 * Reads the command that follows the name of a program.
 * @param names the commands, such as `issue`
 * @throws Fault USAGE for a missing or unknown command
 */
export function chooseCommand(
  program: Program<CommandOptions>,
  names: readonly string[],
  argv: readonly string[],
  version: string,
): ChosenCommand {
  const [name, ...rest] = argv;
  if (name !== undefined && names.includes(name)) return { kind: 'command', name, argv: rest };
  if (name?.startsWith('-') === true) {
    const line = readCommandLine(program, argv, version);
    if (line.kind === 'text') return line;
  }
  const found = name === undefined ? 'nothing' : `${quoted(name)}${hint(name, names)}`;
  throw new Fault('USAGE', `found ${found}, needed: a command: ${names.join(', ')}; see --help`);
}
