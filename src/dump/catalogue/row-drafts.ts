// Drafts the rows of a class of a catalogue, as inline tables of TOML.
import { namesTaken } from '../../catalogue/names.js';
import type { FamilyMetadata } from '../../model.js';
import { isFramed } from '../../published.js';
import { draftedName, metricDraft, nameOfTime } from './metric-draft.js';
import type { DraftedClass } from './metric-draft.js';
import { freeLabel } from './survey.js';
import type { SeenClass, SeenVariable } from './survey.js';

type TomlValue = string | number | boolean | Readonly<Record<string, string>>;

/** A TOML string that is safe for a terminal. */
export const tomlText = (text: string): string =>
  JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, escaped);

export const tomlList = (texts: readonly string[]): string => `[${texts.map(tomlText).join(', ')}]`;

/** An inline table. Its keys consist of letters, digits and underscores. */
export const tomlTable = (keys: Readonly<Record<string, TomlValue>>): string =>
  `{ ${Object.entries(keys)
    .map(([key, value]) => `${key} = ${tomlValue(value)}`)
    .join(', ')} }`;

function tomlValue(value: TomlValue): string {
  if (typeof value === 'string') return tomlText(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' ? tomlNumber(value) : tomlTable(value);
}

/** A number without an exponent, such as `0.000001`. */
const tomlNumber = (value: number): string =>
  value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** The variables that become series of one metric. A label distinguishes these series. */
interface VariableFamily {
  /** The first variable, with the common prefix as its name. */
  readonly variable: SeenVariable;
  /** The name of the only variable, or a pattern such as `bytesSent.{number}`. */
  readonly pattern: string;
  readonly label: string | undefined;
}

interface Group {
  readonly variable: SeenVariable;
  /**
   * The part before the first dot, equal in all names of the group; undefined for names without a dot and for
   * variables whose values are in frames.
   */
  readonly before: string | undefined;
  /** The parts of the names after the first dot. */
  readonly ends: string[];
}

const PARTS = /^([^.]+)\.(.+)$/;

/**
 * Groups numeric variables whose names are equal up to the first dot. A single variable gets a pattern only if all
 * characters after its dot are digits.
 * @param taken the labels that the class already has
 */
function variableFamilies(
  variables: Iterable<SeenVariable>,
  taken: readonly string[],
): readonly VariableFamily[] {
  const groups = new Map<string, Group>();
  for (const variable of variables) {
    const { name, type, kind, unit } = variable;
    const isNumber = !isFramed(type);
    const [, before, end = ''] = (isNumber ? PARTS.exec(name) : null) ?? [];
    const key = JSON.stringify(before === undefined ? [name] : [before, type, kind, unit]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { variable, before, ends: [end] });
    else group.ends.push(end);
  }
  return [...groups.values()].map((group) => familyOf(group, taken));
}

function familyOf({ variable, before, ends }: Group, taken: readonly string[]): VariableFamily {
  const areNumbers = ends.every((end) => /^\d+$/.test(end));
  if (before === undefined || (ends.length === 1 && !areNumbers))
    return { variable, pattern: variable.name, label: undefined };
  const label = freeLabel([areNumbers ? 'number' : 'part'], taken);
  return { variable: { ...variable, name: before }, pattern: `${before}.{${label}}`, label };
}

/** The keys and values of a row, and its guessed parts. */
interface RowDraft {
  readonly keys: Readonly<Record<string, TomlValue>>;
  readonly guesses: readonly string[];
}

/** Matches the names of text variables that are probably personal data. */
const PERSONAL = /user|login|mail|person|customer|owner|host|address/i;

type NamedDraft = Omit<FamilyMetadata, 'help'>;

/** The maximum number of characters in a help text, and of texts in an info metric. */
const MAX_HELP = 400;
const MAX_TEXTS = 32;

export class RowDrafts {
  readonly #seen: SeenClass;
  readonly #drafted: DraftedClass;
  readonly #labels: readonly string[];
  readonly #taken: Set<string>;

  /**
   * @param labels the labels of the class's path
   * @param taken the metric names that the catalogue already uses; this class adds its own names
   */
  constructor(
    seen: SeenClass,
    drafted: DraftedClass,
    labels: readonly string[],
    taken: Set<string>,
  ) {
    this.#seen = seen;
    this.#drafted = drafted;
    this.#labels = labels;
    this.#taken = taken;
  }

  *rows(): Generator<RowDraft> {
    const variables = [...this.#seen.variables.values()];
    const texts = variables.filter(({ type, isTime }) => type === 'string' && !isTime);
    if (texts.length > 0) yield this.#info(texts.slice(0, MAX_TEXTS));
    for (const variable of variables) if (variable.isTime) yield this.#time(variable);
    const others = variables.filter(({ type }) => type !== 'string');
    for (const family of variableFamilies(others, this.#labels)) yield this.#measured(family);
    if (this.#seen.segments.length === 0) yield this.#state();
  }

  #info(texts: readonly SeenVariable[]): RowDraft {
    const labels: Record<string, string> = {};
    for (const { name } of texts)
      labels[freeLabel([name], [...this.#labels, ...Object.keys(labels)])] = name;
    const { name, type } = this.#free((number) => this.#plain('', 'info', number));
    const help = `String variables of ${this.#seen.className}, as labels; always 1.`;
    const isPersonal = texts.some((text) => PERSONAL.test(text.name));
    return {
      keys: { name, type, help, labels_from: labels, ...(isPersonal && { personal: true }) },
      guesses: [
        'string values that rarely change',
        ...(isPersonal ? ['personal data, as their names suggest'] : []),
        'the help',
      ],
    };
  }

  #time(variable: SeenVariable): RowDraft {
    const { name, type, unit } = this.#free((number) => ({
      type: 'gauge' as const,
      unit: 'seconds',
      name: nameOfTime(variable.name, this.#drafted, number),
    }));
    const [help, guess] = this.#helpOf(variable);
    return {
      keys: { name, type, unit, help, var: variable.name, conv: 'timestamp' },
      guesses: ['a point in time, by its value', ...guess],
    };
  }

  #measured({ variable, pattern, label }: VariableFamily): RowDraft {
    const draft = this.#free((number) => metricDraft(variable, this.#drafted, number));
    const { name, type, unit, scale, guesses } = draft;
    const [help, guess] = this.#helpOf(variable);
    return {
      keys: {
        ...{ name, type },
        ...(unit !== '' && { unit }),
        ...{ help, var: pattern },
        ...(scale !== 1 && { scale }),
      },
      guesses: [...guesses, ...(label === undefined ? [] : [`label ${label}`]), ...guess],
    };
  }

  #state(): RowDraft {
    const { name, type } = this.#free((n) => this.#plain('object_state', 'stateset', n));
    const help = `Management state of ${this.#seen.className}, one series per state.`;
    return { keys: { name, type, help, var: '@state' }, guesses: [] };
  }

  #plain(words: string, type: 'info' | 'stateset', number: number): NamedDraft {
    const variable = number === 1 ? words : `${words}_${number}`;
    return { name: draftedName(this.#drafted, variable, type), type, unit: '' };
  }

  /** Calls `make` with 1, 2, … until all names of the draft are free, and then reserves them. */
  #free<T extends NamedDraft>(make: (number: number) => T): T {
    for (let number = 1; ; number++) {
      const made = make(number);
      const names = namesTaken({ ...made, help: '' });
      if (names.some((name) => this.#taken.has(name))) continue;
      for (const name of names) this.#taken.add(name);
      return made;
    }
  }

  #helpOf({ name, help }: SeenVariable): readonly [help: string, guesses: readonly string[]] {
    const said = help.trim().slice(0, MAX_HELP);
    if (said !== '') return [said, []];
    return [`Variable ${name} of ${this.#seen.className}.`, ['the help']];
  }
}
