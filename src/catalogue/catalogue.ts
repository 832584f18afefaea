// The metrics of one application as data, and the reader of the files that hold them.
import { parse } from 'toml';
import { Fault, messageOf } from '../errors.js';
import type { FamilyFacts } from '../model.js';
import { parseClass } from './catalogue-class.js';
import type { CatalogueClass } from './catalogue-class.js';
import { checkRows } from './check-rows.js';
import { Families } from './families.js';
import { Problems } from './problems.js';
import { compileSeedPrefix } from './seed-prefix.js';
import { Table } from './table.js';

export interface Catalogue {
  readonly app: string;
  readonly classes: readonly CatalogueClass[];
  readonly seedPathGroups: ReadonlyMap<string, readonly string[]>;
  /** Every metric by name, in the order of the file. */
  readonly families: ReadonlyMap<string, FamilyFacts>;
}

const FILE_KEYS = ['app', 'classes', 'seed_path_groups'];
const APP = /^[a-zA-Z][a-zA-Z0-9_]*$/;

/**
 * Reads a catalogue file; `from` names it in messages. docs/catalogue.md describes the format.
 * @throws Fault CONFIG_INVALID with one line for each thing that is wrong
 */
export function parseCatalogue(text: string, from: string): Catalogue {
  const problems = new Problems(from);
  const file = new Table(parseToml(text, from), '', problems);
  file.only(FILE_KEYS);
  file.needs('app', 'classes');
  const app = file.text('app') ?? '';
  if (file.has('app') && !APP.test(app))
    problems.add(
      'app',
      `found ${JSON.stringify(app)}, allowed: a letter, then letters, digits and _`,
    );
  const families = new Families(app);
  const classes = file.tables('classes').map((table) => parseClass(table, families));
  checkAliases(classes, problems);
  checkRows(classes, problems);
  const seedPathGroups = parseGroups(file.table('seed_path_groups'));
  problems.throwIfAny();
  return { app, classes, seedPathGroups, families: families.all };
}

function parseToml(text: string, from: string): unknown {
  try {
    return parse(text);
  } catch (thrown) {
    const place = (thrown as { location?: { start: { line: number; column: number } } }).location;
    const where = place === undefined ? from : `${from}:${place.start.line}:${place.start.column}`;
    throw new Fault('CONFIG_INVALID', `${where}: ${messageOf(thrown).replace(/\.$/, '')}`, {
      cause: thrown,
    });
  }
}

function checkAliases(classes: readonly CatalogueClass[], problems: Problems): void {
  const seen = new Set<string>();
  for (const [index, { alias }] of classes.entries()) {
    if (seen.has(alias))
      problems.add(`classes[${index}].alias`, `${JSON.stringify(alias)} is taken by a class above`);
    seen.add(alias);
  }
}

function parseGroups(table: Table): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const name of table.keys) {
    const prefixes = table.texts(name);
    for (const prefix of prefixes)
      table.problems.catch(table.at(name), () => compileSeedPrefix(prefix));
    groups.set(name, prefixes);
  }
  return groups;
}
