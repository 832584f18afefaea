// The metrics of one catalogue: the first row of a name defines it, later ones must agree.
import type { FamilyFacts, MetricType } from '../../model.js';
import { oneOf, text } from '../../rules/rule.js';
import { nameProblems, namesTaken } from '../names.js';
import type { Table } from './table.js';

const TYPES: readonly MetricType[] = [
  'counter',
  'gauge',
  'histogram',
  'summary',
  'info',
  'stateset',
  'unknown',
];
const metricType = oneOf(...TYPES);
const helpText = text(/\S/, 'a string that is not empty');

export class Families {
  readonly #byName = new Map<string, FamilyFacts>();
  readonly #owners = new Map<string, string>();
  /** Names whose first row has no valid type. Problems of their later rows would only repeat that. */
  readonly #broken = new Set<string>();

  constructor(readonly app: string) {}

  /** The families in the order of the file. */
  get all(): ReadonlyMap<string, FamilyFacts> {
    return this.#byName;
  }

  /** The facts of the metric that a row names; undefined, with a problem, if they are invalid. */
  of(row: Table): FamilyFacts | undefined {
    const name = row.text('name');
    row.needs('name');
    if (name === undefined || this.#broken.has(name)) return undefined;
    const known = this.#byName.get(name);
    if (known === undefined) return this.#first(name, row);
    for (const key of ['type', 'unit', 'help'] as const)
      if (row.has(key) && row.text(key) !== known[key])
        row.problems.add(
          row.at(key),
          `differs from the first row of ${name}, where it is ${JSON.stringify(known[key])}`,
        );
    return known;
  }

  #first(name: string, row: Table): FamilyFacts | undefined {
    row.needs('type', 'help');
    const type = row.read('type', metricType);
    const help = row.read('help', helpText)?.trim() ?? '';
    const unit = row.text('unit') ?? '';
    for (const problem of nameProblems({ name, type, unit }, this.app))
      row.problems.add(row.at('name'), problem);
    if (type === undefined) {
      this.#broken.add(name);
      return undefined;
    }
    const facts = { name, type, unit, help };
    for (const taken of new Set(namesTaken(facts))) this.#take(taken, name, row);
    this.#byName.set(name, facts);
    return facts;
  }

  #take(taken: string, name: string, row: Table): void {
    const owner = this.#owners.get(taken);
    if (owner !== undefined)
      row.problems.add(row.at('name'), `${name} and ${owner} would both claim the name ${taken}`);
    else this.#owners.set(taken, name);
  }
}
