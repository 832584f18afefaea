// One option of a command line: its flags, what its argument may be, and what it does.
import { keyPath, quoted } from '../document/document.js';
import type { Path } from '../document/document.js';
import { Fault } from '../errors.js';
import type { Rule } from './rule.js';

export interface CommandOption<T> {
  /** As in `--server-key <key>`. */
  readonly flags: string;
  readonly meaning: string;
  /** @throws Fault USAGE when the argument is not allowed; true stands for none */
  readonly read: (argument: string | true) => T;
  /** The value where the option is not given. */
  readonly fallback: T | undefined;
  readonly isRequired: boolean;
  /** Whether it may be given several times; its arguments are then items of one list. */
  readonly isRepeatable: boolean;
  /** The default as the help shows it; empty to show none. */
  readonly shownDefault: string;
  /** Whether --help leaves it to --help-all. */
  readonly isRare: boolean;
  /** The heading that the help shows it under. */
  readonly group?: string | undefined;
  /** The key in the configuration file whose value it overrides. */
  readonly setting?: string | undefined;
  /** Names of options that cannot be used together with it, such as `--instance`. */
  readonly conflicts?: readonly string[] | undefined;
}

export type CommandOptions = Readonly<Record<string, CommandOption<unknown>>>;

/** The values of options, by the names that the program gives them. */
export type Given<O extends CommandOptions> = {
  readonly [K in keyof O]: O[K] extends CommandOption<infer T> ? T : never;
};

type More = Partial<
  Pick<CommandOption<unknown>, 'group' | 'conflicts' | 'shownDefault' | 'isRare' | 'setting'>
>;

const PLAIN = { isRequired: false, isRepeatable: false, isRare: false, shownDefault: '' };

/** An option without an argument. */
export const flagOption = (
  flags: string,
  meaning: string,
  more: More = {},
): CommandOption<boolean> => ({
  ...PLAIN,
  ...{ flags, meaning, fallback: false, read: () => true },
  ...more,
});

export const requiredOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T> => ({
  ...PLAIN,
  ...{
    flags,
    meaning,
    fallback: undefined,
    isRequired: true,
    read: readBy({ flags, ...more }, rule),
  },
  ...more,
});

/** An option whose value is undefined where it is not given. */
export const optionalOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T | undefined> => ({
  ...PLAIN,
  ...{ flags, meaning, fallback: undefined, read: readBy({ flags, ...more }, rule) },
  isRepeatable: rule.type.endsWith('array'),
  ...more,
});

export const defaultOption = <T>(
  flags: string,
  fallback: NoInfer<T>,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T> => ({
  ...PLAIN,
  ...{
    flags,
    meaning,
    fallback,
    shownDefault: String(fallback),
    read: readBy({ flags, ...more }, rule),
  },
  ...more,
});

/** An option with an argument that can be left out: its value is true then. */
export const openOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T | true | undefined> => {
  const read = readBy({ flags, ...more }, rule);
  return {
    ...PLAIN,
    ...{ flags, meaning, fallback: undefined },
    read: (argument) => (argument === true ? true : read(argument)),
    ...more,
  };
};

/** `--server-key` of `--server-key <key>`. */
export const nameOf = ({ flags }: Pick<CommandOption<unknown>, 'flags'>): string =>
  flags.split(' ')[0] ?? '';

type Called = Pick<CommandOption<unknown>, 'flags' | 'setting'>;

/** An item of its argument, or all of it, as messages name it: with the setting that it overrides. */
export const calledOf = ({ flags, setting }: Called, path: Path = []): string =>
  `${nameOf({ flags })}${keyPath(path)}${setting === undefined ? '' : ` (${setting})`}`;

/** The effect of an option, whether it is required, and its default. */
export function effectOf({
  meaning,
  isRequired,
  shownDefault,
}: Pick<CommandOption<unknown>, 'meaning' | 'isRequired' | 'shownDefault'>): string {
  if (isRequired) return `${meaning} (required)`;
  return shownDefault === '' ? meaning : `${meaning} (default: ${shownDefault})`;
}

const readBy =
  <T>(option: Called, rule: Rule<T>) =>
  (argument: string | true): T => {
    const text = String(argument);
    const refuse = (path: Path, sentence: string): never => {
      throw new Fault('USAGE', `${calledOf(option, path)}: ${sentence}`);
    };
    if (text.startsWith('--'))
      return refuse([], `found the option ${quoted(text)} for its argument`);
    const value = rule.read(rawOf(text, rule.type), [], refuse);
    return value ?? refuse([], `found ${quoted(text)}, allowed: ${rule.allowed}`);
  };

/** An argument as a TOML file would give it; items of lists stand between commas. */
function rawOf(text: string, type: string): unknown {
  if (type.endsWith('array')) return text.split(',');
  if (type === 'integer' && /^-?\d{1,20}$/.test(text)) return BigInt(text);
  if (type === 'number' && /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text)) return Number(text);
  return text;
}

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
