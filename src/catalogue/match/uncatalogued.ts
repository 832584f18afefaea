// What must be known of a catalogue to show the variables that none of its rows reads.
import type { Catalogue } from '../catalogue.js';
import { namesTaken } from '../names.js';
import type { Filters } from './filters.js';
import type { Rules } from './rules.js';

export interface Uncatalogued {
  /** The rows of all classes, whichever of them a target has chosen. */
  readonly rules: Rules;
  /** The names that its metrics and their series occupy. */
  readonly taken: ReadonlySet<string>;
}

/** Undefined without a catalogue. */
export function uncataloguedIn(
  catalogue: Catalogue | undefined,
  { catalogued }: Pick<Filters, 'catalogued'>,
): Uncatalogued | undefined {
  const rules = catalogued();
  if (catalogue === undefined || rules === undefined) return undefined;
  return { rules, taken: new Set([...catalogue.families.values()].flatMap(namesTaken)) };
}
