// The options that every program has: the parser, pages and completions take them from here.
import { flagOption } from './command-option.js';
import type { CommandOption, CommandOptions } from './command-option.js';

/** What they depend on of a program. */
interface Host {
  readonly options: CommandOptions;
  readonly lastGroup?: string | undefined;
}

/** In the order in which they are shown; --help-all where --help leaves options out. */
export function builtInOptions({
  options,
  lastGroup: group,
}: Host): readonly [version: CommandOption<boolean>, ...help: CommandOption<boolean>[]] {
  const rare = Object.values(options).filter(({ isRare }) => isRare).length;
  return [
    flagOption('--version', 'Print the version and exit', { group }),
    flagOption('--help', 'Print this help and exit', { group }),
    ...(rare === 0
      ? []
      : [
          flagOption('--help-all', `Print this help with ${rare} more options, and exit`, {
            group,
          }),
        ]),
  ];
}
