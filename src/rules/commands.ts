// A program whose first argument is a command.
import { quoted } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { Fault } from '../errors.js';
import { readCommandLine } from './command-line.js';
import type { CommandLine } from './command-line.js';
import type { CommandOptions } from './command-option.js';
import type { Program } from './program.js';

/** A program that only has commands, each a program of its own. */
export interface Commands {
  readonly program: Program<CommandOptions>;
  /** What follows the program's name, such as `issue`. */
  readonly names: readonly string[];
}

/** A command and its arguments, or the text that --version or --help asks for. */
export type Chosen =
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
