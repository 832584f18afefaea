// Loads the catalogues: those that ship with the package, then those of the user.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '../errors.js';
import { parseCatalogue } from './catalogue.js';
import type { Catalogue } from './catalogue.js';
import { Problems } from './problems.js';

/** The applications that need no catalogue file of the user. */
export const BUILT_IN_APPS = ['ads', 'adh', 'ats'] as const;

/**
 * The catalogues by application. A file of the user replaces the built-in catalogue of the same
 * application as a whole; two files of the user for one application are an error.
 * @param files paths as in `catalogue_files`
 * @throws Fault CONFIG_INVALID with everything that is wrong in any of the files
 */
export function loadCatalogues(files: readonly string[] = []): ReadonlyMap<string, Catalogue> {
  const catalogues = new Map<string, Catalogue>();
  for (const app of BUILT_IN_APPS) {
    const text = readFileSync(new URL(`./${app}.toml`, import.meta.url), 'utf8');
    catalogues.set(app, parseCatalogue(text, `${app}.toml`));
  }
  const problems = new Problems('');
  const owners = new Map<string, string>();
  for (const [index, file] of files.entries()) {
    const where = `catalogue_files[${index}]`;
    const catalogue = problems.catch(where, () => readCatalogue(file));
    if (catalogue === undefined) continue;
    const owner = owners.get(catalogue.app);
    if (owner !== undefined)
      problems.add(where, `${file} and ${owner} are both for the application ${catalogue.app}`);
    owners.set(catalogue.app, file);
    catalogues.set(catalogue.app, catalogue);
  }
  problems.throwIfAny();
  return catalogues;
}

function readCatalogue(file: string): Catalogue {
  return parseCatalogue(textOf(file), file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new Fault('CONFIG_INVALID', `cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
}
