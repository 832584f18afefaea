// Parses a command line into values; prints nothing and never exits.
import { CommanderError, Option } from 'commander';
import type { Command } from 'commander';
import { quoted } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { Fault } from '../errors.js';
import { builtInOptions, calledOf, nameOf } from './command-option.js';
import type { CommandOption, CommandOptions, Given } from './command-option.js';
import { parserOf } from './program.js';
import type { Program } from './program.js';

/** The parser's message in our style. */
function usageSentence(
  { code, message }: CommanderError,
  options: readonly CommandOption<unknown>[],
): string {
  const [, named = ''] = /'(.*?)'(?:$| argument missing|\n)/s.exec(message) ?? [];
  if (code === 'commander.optionMissingArgument') {
    const called = options.find(({ flags }) => flags === named) ?? { flags: named };
    return `${calledOf(called)}: found nothing, needed: ${named.split(' ')[1] ?? ''}`;
  }
  if (code === 'commander.missingArgument') return `found nothing, needed: <${named}>; see --help`;
  if (code !== 'commander.unknownOption') return message.replace(/^error: /, '');
  return unknownOption(named, options);
}

function unknownOption(given: string, options: readonly CommandOption<unknown>[]): string {
  const [name = '', ...values] = given.split('=');
  const known = options.find((option) => nameOf(option) === name);
  if (known !== undefined)
    return `${calledOf(known)}: found ${quoted(values.join('='))}, allowed: no argument`;
  const guess = hint(name, options.map(nameOf));
  return `unknown option ${quoted(given)}${guess === '' ? '; see --help' : guess}`;
}

/** The values of the options, or a text that was asked for with --version or --help. */
export type CommandLine<O extends CommandOptions> =
  | { readonly kind: 'given'; readonly options: Given<O>; readonly operand: string }
  | { readonly kind: 'text'; readonly text: string };

/** One option with its argument: true for none, undefined where it is not given. */
type FoundCommand = readonly [
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
  const found = Object.entries(program.options).map(([key, option]): FoundCommand => [
    key,
    option,
    given[new Option(option.flags).attributeName()],
  ]);
  refuseAtOdds(found);
  const values = Object.fromEntries(found.map((each) => [each[0], valueOf(each)]));
  return { kind: 'given', options: values as Given<O>, operand };
}

/** Parses; true after --version or --help. */
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

function valueOf([, option, argument]: FoundCommand): unknown {
  if (argument !== undefined) return option.read(argument);
  if (!option.isRequired) return option.fallback;
  throw new Fault('USAGE', `${nameOf(option)}: found nothing, needed: ${option.flags}`);
}

function operandOf({ operand }: Program<CommandOptions>, args: readonly string[]): string {
  const [first, second] = args;
  const stray = operand === undefined ? first : second;
  const allowed = operand === undefined ? 'options' : `options and one <${operand}>`;
  if (stray !== undefined)
    throw new Fault('USAGE', `found ${quoted(stray)}, allowed: only ${allowed}; see --help`);
  return first ?? '';
}

function refuseAtOdds(found: readonly FoundCommand[]): void {
  const given = found.flatMap(([, option, argument]) => (argument === undefined ? [] : [option]));
  for (const option of given)
    for (const other of given)
      if (option.conflicts?.includes(nameOf(other)) === true)
        throw new Fault('USAGE', `${nameOf(option)} cannot be used with ${nameOf(other)}`);
}

/** A program that only has commands, each a program of its own. */
interface Commands {
  readonly program: Program<CommandOptions>;
  /** What follows the program's name, such as `issue`. */
  readonly names: readonly string[];
}

/** A command and its arguments, or the text that --version or --help asks for. */
type Chosen =
  | { readonly kind: 'command'; readonly name: string; readonly argv: readonly string[] }
  | Extract<CommandLine<CommandOptions>, { kind: 'text' }>;

/** @throws Fault USAGE for a command that is missing or unknown */
export function chooseCommand(
  { program, names }: Commands,
  argv: readonly string[],
  version: string,
): Chosen {
  const [name, ...rest] = argv;
  if (name !== undefined && names.includes(name)) return { kind: 'command', name, argv: rest };
  if (name?.startsWith('-') === true) {
    const line = readCommandLine(program, argv, version);
    if (line.kind === 'text') return line;
  }
  const found = name === undefined ? 'nothing' : `${quoted(name)}${hint(name, names)}`;
  throw new Fault('USAGE', `found ${found}, needed: a command: ${names.join(', ')}; see --help`);
}
