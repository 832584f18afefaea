// The options of a command line: flags, allowed arguments and meanings.
import { keyPath, quoted } from '../document/document.js';
import type { Path } from '../document/document.js';
import { Fault } from '../errors.js';
import type { Rule } from './rule.js';

export interface CommandOption<T> {
  /** The name and the argument, such as `--server-key <key>`. */
  readonly flags: string;
  readonly meaning: string;
  /**
   * Reads the argument: a text, or true if the option is given without one.
   * @throws Fault USAGE for an invalid argument
   */
  readonly read: (argument: string | true) => T;
  readonly fallback: T | undefined;
  readonly isRequired: boolean;
  /** Whether the option may be repeated, so that its arguments are the items of one list. */
  readonly isRepeatable: boolean;
  /** The default as the help shows it; empty for none. */
  readonly shownDefault: string;
  /** The arguments that shells offer; empty if the argument is free text. */
  readonly choices: readonly string[];
  /** Whether only --help-all shows the option, not --help. */
  readonly isRare: boolean;
  readonly group?: string | undefined;
  /** The configuration key whose value the option overrides. */
  readonly setting?: string | undefined;
  /** Names of the options, such as `--instance`, that must not be given together with this option. */
  readonly conflicts?: readonly string[] | undefined;
}

export type CommandOptions = Readonly<Record<string, CommandOption<unknown>>>;

export type OptionValues<O extends CommandOptions> = {
  readonly [K in keyof O]: O[K] extends CommandOption<infer T> ? T : never;
};

type More = Partial<
  Pick<
    CommandOption<unknown>,
    'group' | 'conflicts' | 'shownDefault' | 'isRare' | 'setting' | 'choices'
  >
>;

const DEFAULTS = {
  ...{ fallback: undefined, isRequired: false, isRepeatable: false, isRare: false },
  ...{ shownDefault: '', choices: [] },
};

export const flagOption = (
  flags: string,
  meaning: string,
  more: More = {},
): CommandOption<boolean> => ({
  ...DEFAULTS,
  ...{ flags, meaning, fallback: false, read: () => true },
  ...more,
});

/** An option whose argument a rule reads. */
const ruledOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: Partial<CommandOption<T>>,
): CommandOption<T> => {
  const read = readBy({ flags, ...more }, rule);
  return { ...DEFAULTS, flags, meaning, read, choices: rule.choices ?? [], ...more };
};

export const requiredOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T> => ruledOption(flags, rule, meaning, { isRequired: true, ...more });

/** An option whose value is undefined if it is not given. */
export const valueOption = <T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T | undefined> =>
  ruledOption(flags, rule, meaning, { isRepeatable: rule.type.endsWith('array'), ...more });

export const defaultOption = <T>(
  flags: string,
  fallback: NoInfer<T>,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T> =>
  ruledOption(flags, rule, meaning, { fallback, shownDefault: String(fallback), ...more });

/** An option that may be given with or without an argument. Its value is the argument, or true if there is none. */
export function openOption<T>(
  flags: string,
  rule: Rule<T>,
  meaning: string,
  more: More = {},
): CommandOption<T | true | undefined> {
  const option = ruledOption<T>(flags, rule, meaning, { choices: [], ...more });
  return { ...option, read: (argument) => argument === true || option.read(argument) };
}

/** The name of an option: `--server-key` for the flags `--server-key <key>`. */
export const nameOf = ({ flags }: Pick<CommandOption<unknown>, 'flags'>): string =>
  flags.split(' ')[0] ?? '';

type NamedOption = Pick<CommandOption<unknown>, 'flags' | 'setting'>;

/** The name of an option, or of one item of its argument, for messages. Adds the setting that the option overrides. */
export const nameInMessages = ({ flags, setting }: NamedOption, path: Path = []): string =>
  `${nameOf({ flags })}${keyPath(path)}${setting === undefined ? '' : ` (${setting})`}`;

/** The meaning of an option with its default, or a note that it is required. */
export function effectOf({
  meaning,
  isRequired,
  shownDefault,
}: Pick<CommandOption<unknown>, 'meaning' | 'isRequired' | 'shownDefault'>): string {
  if (isRequired) return `${meaning} (required)`;
  return shownDefault === '' ? meaning : `${meaning} (default: ${shownDefault})`;
}

const readBy =
  <T>(option: NamedOption, rule: Rule<T>) =>
  (argument: string | true): T => {
    const text = String(argument);
    const refuse = (path: Path, sentence: string): never => {
      throw new Fault('USAGE', `${nameInMessages(option, path)}: ${sentence}`);
    };
    if (text.startsWith('--'))
      return refuse([], `found the option ${quoted(text)}, needed: ${option.flags.split(' ')[1]}`);
    const value = rule.read(rawOf(text, rule.type), [], refuse);
    return value ?? refuse([], `found ${quoted(text)}, allowed: ${rule.allowed}`);
  };

/** Converts an argument to a raw value, as in a TOML file. Commas separate the items of a list. */
function rawOf(text: string, type: string): unknown {
  if (type.endsWith('array')) return text.split(',');
  if (type === 'integer' && /^-?\d{1,20}$/.test(text)) return BigInt(text);
  if (type === 'number' && /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text)) return Number(text);
  return text;
}

/** The options that every program has, in the order of the help. --help-all exists only if some options are rare. */
export function builtInOptions({
  options,
  lastGroup: group,
}: {
  readonly options: CommandOptions;
  readonly lastGroup?: string | undefined;
}): readonly [version: CommandOption<boolean>, ...help: CommandOption<boolean>[]] {
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
