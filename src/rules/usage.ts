// Describes the errors of a command line, in the style of configuration errors.
import type { CommanderError } from 'commander';
import { quoted } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { calledOf, nameOf } from './command-option.js';
import type { CommandOption } from './command-option.js';

/** The parser's message in our style. */
export function usageSentence(
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
