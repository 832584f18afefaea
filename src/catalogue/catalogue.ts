// The metrics of one application as data, and the parser of catalogue files.
import { SourcePositions } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { parseToml } from '../document/toml-file.js';
import { application } from '../rules/formats.js';
import { repeated } from '../rules/rule.js';
import type { FamilyMetadata } from '../model.js';
import { parseClass } from './catalogue-class.js';
import type { CatalogueClass } from './catalogue-class.js';
import { checkRows } from './file/check-rows.js';
import { Families, RowParser } from './file/row-parser.js';
import { Problems } from '../rules/problems.js';
import { ROW_KINDS } from './kinds/row-kinds.js';
import { compileSeedPrefix } from './match/patterns.js';
import { Table } from './file/table.js';

/** The text of a catalogue file: plain data, so that one thread can send it to another, which parses it. */
export interface CatalogueText {
  /** The name of the file in messages. */
  readonly file: string;
  readonly text: string;
  /** Whether the text is JSON, as in built-in catalogues, rather than TOML. */
  readonly isJson?: true;
}

export interface Catalogue {
  readonly app: string;
  readonly classes: readonly CatalogueClass[];
  readonly seedPathGroups: ReadonlyMap<string, readonly string[]>;
  /** Every metric by name, in the order of the file. */
  readonly families: ReadonlyMap<string, FamilyMetadata>;
  readonly source: CatalogueText;
}

const FILE_KEYS = ['app', 'classes', 'seed_path_groups'];

/**
 * Reads a catalogue. docs/catalogue.md describes the format.
 * @param kinds the kinds of rows that the catalogue may have
 * @throws Fault CONFIG_INVALID with one line for each error
 */
export function parseCatalogue(source: CatalogueText, kinds = ROW_KINDS): Catalogue {
  const { catalogue, problems } = readCatalogue(source, kinds);
  problems.throwIfAny();
  return catalogue;
}

/** The catalogues that this thread has parsed, by `CatalogueText`. Threads send each other only the texts. */
const parsedCatalogues = new WeakMap<CatalogueText, Catalogue>();

/** The catalogue that this thread has parsed from this text object, if any. */
export const parsedCatalogue = (source: CatalogueText): Catalogue | undefined =>
  parsedCatalogues.get(source);

/**
 * The valid part of a catalogue; each error in the rest becomes a problem.
 * @throws Fault CONFIG_INVALID when the text is not TOML
 */
export function readCatalogue(
  source: CatalogueText,
  kinds = ROW_KINDS,
): { readonly catalogue: Catalogue; readonly problems: Problems } {
  const { values, places } = documentOf(source);
  const problems = new Problems(places);
  const file = new Table(values, [], problems);
  file.only(FILE_KEYS);
  file.needs({
    app: 'the name of the application',
    classes: 'an array of [[classes]] tables, which may be empty',
  });
  const app = file.read('app', application) ?? '';
  const families = new Families(app);
  const parser = new RowParser(families, kinds);
  const classes = file.tables('classes').map((table) => parseClass(table, parser));
  checkAliases(classes, problems);
  checkRows(classes, parser.paths, problems);
  const seedPathGroups = parseGroups(file.table('seed_path_groups'));
  const catalogue = { app, classes, seedPathGroups, families: families.all, source };
  parsedCatalogues.set(source, catalogue);
  return { catalogue, problems };
}

/** Parses a text. Positions are known for TOML only: a catalogue in JSON comes from the build, and has no errors to report. */
const documentOf = ({ file, text, isJson }: CatalogueText): SettingsDocument =>
  isJson
    ? {
        values: JSON.parse(text) as SettingsDocument['values'],
        places: new SourcePositions(file, text, () => new Map()),
      }
    : parseToml(file, text);

function checkAliases(classes: readonly CatalogueClass[], problems: Problems): void {
  const first = new Map<string, number>();
  for (const [index, { alias }] of classes.entries()) {
    const earlier = first.get(alias);
    if (earlier === undefined) first.set(alias, index);
    else problems.add(['classes', index, 'alias'], repeated(['classes', earlier, 'alias']));
  }
}

function parseGroups(table: Table): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const name of table.keys) {
    const prefixes = table
      .texts(name)
      .filter((prefix, index) =>
        table.problems.catch(table.at(name, index), () => compileSeedPrefix(prefix)),
      );
    groups.set(name, prefixes);
  }
  return groups;
}
