// Which objects a target follows: its classes, seed path groups and seed paths put together.
import type { Catalogue } from './catalogue.js';
import { hint } from '../document/nearest.js';
import type { PlacedObject } from './placed-object.js';
import { Problems } from './problems.js';
import { compileRules } from './rules.js';
import type { Rules } from './rules.js';
import { compileSeedPrefix } from './seed-prefix.js';
import type { SeedPrefix } from './seed-prefix.js';
import { segmentsOf } from './segment.js';

/** The filter keys of a target, as configured. */
export interface FilterSettings {
  readonly classes: readonly string[];
  readonly seedPathGroups: readonly string[];
  readonly seedPaths: readonly string[];
}

export interface Filters {
  /** Whether the target follows the object: what it does not is not read, counted or emitted. */
  readonly tracks: (object: PlacedObject) => boolean;
  /** The rows of the chosen classes, for the metric builder; undefined without a catalogue. */
  readonly rules: Rules | undefined;
}

/**
 * Compiles the filters of a target. Without any, every object under the root is tracked, whether a
 * row reads it or not; `readOnly` narrows that. Without a catalogue, `classes` are class ids.
 * @param place key path of the target, such as `targets[0]`, for messages
 * @throws Fault CONFIG_INVALID with a line for each unknown alias or group and each bad seed path
 */
export function compileFilters(
  catalogue: Catalogue | undefined,
  settings: FilterSettings,
  place = '',
): Filters {
  const problems = new Problems('');
  const at = (key: string): string => (place === '' ? key : `${place}.${key}`);
  const prefixes = compilePrefixes(catalogue, settings, at, problems);
  const chosen = chooseClasses(catalogue, settings.classes, at('classes'), problems);
  problems.throwIfAny();

  const rules = chosen === undefined ? undefined : compileRules({ classes: chosen });
  const inClass = classCondition(settings.classes, rules);
  const inPrefix = prefixCondition(prefixes);
  return { tracks: (object) => inPrefix(object) && inClass(object), rules };
}

/**
 * The same filters, narrowed to the objects that some row reads. Nothing is narrowed without a
 * catalogue, where every variable is exported.
 */
export function readOnly(filters: Filters): Filters {
  const { rules } = filters;
  if (rules === undefined) return filters;
  return { rules, tracks: (object) => filters.tracks(object) && rules.reads(object) };
}

type Condition = (object: PlacedObject) => boolean;
const always: Condition = () => true;

function classCondition(names: readonly string[], rules: Rules | undefined): Condition {
  if (names.length === 0) return always;
  if (rules !== undefined) return (object) => rules.reads(object);
  const ids = new Set(names);
  return ({ className }) => ids.has(className);
}

function prefixCondition(prefixes: readonly SeedPrefix[] | undefined): Condition {
  if (prefixes === undefined) return always;
  return ({ seedPath }) => {
    const segments = segmentsOf(seedPath);
    return prefixes.some((begins) => begins(segments));
  };
}

function chooseClasses(
  catalogue: Catalogue | undefined,
  aliases: readonly string[],
  where: string,
  problems: Problems,
): Catalogue['classes'] | undefined {
  if (catalogue === undefined || aliases.length === 0) return catalogue?.classes;
  const known = catalogue.classes.map(({ alias }) => alias);
  for (const alias of aliases)
    if (!known.includes(alias))
      problems.add(where, unknown('class alias', alias, catalogue.app, known));
  return catalogue.classes.filter(({ alias }) => aliases.includes(alias));
}

/** Undefined when neither groups nor paths are given. */
function compilePrefixes(
  catalogue: Catalogue | undefined,
  { seedPathGroups, seedPaths }: FilterSettings,
  at: (key: string) => string,
  problems: Problems,
): readonly SeedPrefix[] | undefined {
  if (seedPathGroups.length === 0 && seedPaths.length === 0) return undefined;
  const groups = catalogue?.seedPathGroups ?? new Map<string, readonly string[]>();
  const texts = [...seedPaths];
  for (const name of seedPathGroups) {
    const group = groups.get(name);
    if (group === undefined)
      problems.add(
        at('seed_path_groups'),
        unknown('filter group', name, catalogue?.app, [...groups.keys()]),
      );
    texts.push(...(group ?? []));
  }
  return texts.flatMap(
    (text) => problems.catch(at('seed_paths'), () => compileSeedPrefix(text)) ?? [],
  );
}

function unknown(what: string, name: string, app = '', known: readonly string[] = []): string {
  const found = `unknown ${what} ${JSON.stringify(name)}`;
  if (known.length === 0) return `${found}: the application has none, since it has no catalogue`;
  return `${found} of application ${app}${hint(name, known)}, allowed: ${known.join(', ')}`;
}
