// The metrics that existing variables become as their publisher describes them.
import type { Uncatalogued } from '../../catalogue/match/uncatalogued.js';
import { quoted } from '../../document/document.js';
import { SelfDescribed } from '../../exposition/rows/self-described.js';
import type { FamilyFacts, ManagedObject, Variable } from '../../model.js';
import type { CountedObject } from './census.js';

/** Describes the lines of `SharedNames`, for messages. */
export const SHARING = 'variables that share the name of a metric';

export interface Described {
  readonly families: ReadonlySet<FamilyFacts>;
  /** One line for each two variables of an object that share the name of a metric. */
  readonly shared: readonly string[];
}

/** Variables of one object whose names become the same name of a metric, so that only one of them is shown. */
export class SharedNames {
  readonly #lines = new Set<string>();
  #object: ManagedObject | undefined;
  /** The variables of that object, by the name and labels of their series. */
  #variables = new Map<string, Variable>();

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** Takes the variables of one object after the other. */
  take(variable: Variable, { name }: FamilyFacts, labels = ''): void {
    const { object } = variable;
    if (object !== this.#object) {
      this.#object = object;
      this.#variables = new Map();
    }
    const series = `${name} ${labels}`;
    const other = this.#variables.get(series);
    if (other === undefined) this.#variables.set(series, variable);
    else
      this.#lines.add(
        `class ${quoted(object.className)}: the variables ${quoted(other.name)} and ${quoted(variable.name)} both become ${name}, so one is left out: rename one of them`,
      );
  }
}

/** @param uncatalogued set if there is a catalogue: then only of variables that none of its rows reads */
export function describedFamilies(
  app: string,
  objects: readonly CountedObject[],
  uncatalogued?: Uncatalogued,
): Described {
  const described = new SelfDescribed(app, uncatalogued?.taken);
  const families = new Set<FamilyFacts>();
  const shared = new SharedNames();
  for (const object of objects) {
    const sets = uncatalogued?.rules.rulesFor(object).map(({ set }) => set) ?? [];
    for (const variable of object.variables.values())
      if (sets.every((set) => !set.isDescribed && set.usesOf(variable.name).length === 0)) {
        const stated = described.statedFor(variable);
        const { family } = described.rowFor(variable, stated);
        families.add(family);
        shared.take(variable, family, JSON.stringify(stated?.labels));
      }
  }
  return { families, shared: shared.lines };
}
