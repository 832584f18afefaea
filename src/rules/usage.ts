// Describes the errors of a command line, in the style of configuration errors.
import type { CommanderError } from 'commander';
import { quoted } from '../document/key-path.js';
import { hint } from '../document/nearest.js';

/** The parser's message in our style; `flags` are the known options as in `--app <app>`. */
export function usageSentence({ code, message }: CommanderError, flags: readonly string[]): string {
  const [, named = ''] = /'(.*?)'(?:$| argument missing|\n)/s.exec(message) ?? [];
  if (code === 'commander.optionMissingArgument') {
    const [name = '', argument = ''] = named.split(' ');
    return `${name}: found nothing, needed: ${argument}`;
  }
  if (code === 'commander.missingArgument') return `found nothing, needed: <${named}>; see --help`;
  if (code !== 'commander.unknownOption') return message.replace(/^error: /, '');
  return unknownOption(
    named,
    flags.map((each) => each.split(' ')[0] ?? ''),
  );
}

function unknownOption(given: string, known: readonly string[]): string {
  const [name = '', ...values] = given.split('=');
  if (known.includes(name))
    return `${name}: found ${quoted(values.join('='))}, allowed: no argument`;
  const guess = hint(name, known);
  return `unknown option ${quoted(given)}${guess === '' ? '; see --help' : guess}`;
}
