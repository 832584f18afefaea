// Loads the catalogues that ship with the package, then the catalogues of the user.
import { readFileSync } from 'node:fs';
import { Fault } from '../errors.js';
import { parseCatalogue, parsedCatalogue, readCatalogue } from './catalogue.js';
import type { Catalogue, CatalogueText } from './catalogue.js';

/** The applications whose catalogue ships with the package. */
export const BUILT_IN_APPS = ['ads', 'adh', 'ats', 'jvm'] as const;

type RefuseCatalogue = (fault: Fault) => void;
const throwIt: RefuseCatalogue = (fault) => {
  throw fault;
};

/** The catalogues by application, the built-in ones first. */
export type Catalogues = Pick<ReadonlyMap<string, Catalogue>, 'get' | 'keys' | 'values'> &
  Iterable<readonly [app: string, catalogue: Catalogue]>;

/**
 * Loads the catalogues. A user's catalogue replaces the whole built-in catalogue of its application. Two user
 * catalogues for one application are an error.
 * @param own the files of `catalogue_files`, as text
 * @param refuse called with a Fault CONFIG_INVALID for each invalid file; the result still contains the valid part of
 *   that file, so that other files can be checked against the valid part
 */
export function loadCatalogues(
  own: readonly CatalogueText[] = [],
  refuse: RefuseCatalogue = throwIt,
): Catalogues {
  const catalogues = new Map<string, Catalogue>();
  const owners = new Map<string, string>();
  for (const source of own)
    try {
      const { catalogue, problems } = readCatalogue(source);
      const owner = owners.get(catalogue.app);
      if (owner !== undefined)
        problems.add(['app'], `${owner} is also a catalogue of the application ${catalogue.app}`);
      owners.set(catalogue.app, source.file);
      catalogues.set(catalogue.app, catalogue);
      problems.throwIfAny();
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      refuse(thrown);
    }
  return withBuiltIn(catalogues);
}

/** Adds the built-in catalogues. Parses each on first use, since most processes need only one of them. */
function withBuiltIn(catalogues: Map<string, Catalogue>): Catalogues {
  builtInTexts();
  const apps = [...new Set([...BUILT_IN_APPS, ...catalogues.keys()])];
  const get = (app: string): Catalogue | undefined => {
    if (!catalogues.has(app) && apps.includes(app)) catalogues.set(app, builtIn(app));
    return catalogues.get(app);
  };
  const all = () => new Map(apps.flatMap((app) => entryOf(app, get(app))));
  return {
    get,
    keys: () => apps.values(),
    values: () => all().values(),
    [Symbol.iterator]: () => all().entries(),
  };
}

const entryOf = (app: string, catalogue: Catalogue | undefined) =>
  catalogue === undefined ? [] : [[app, catalogue] as const];

function builtIn(app: string): Catalogue {
  return parseCatalogue({
    file: `${app}.json`,
    text: builtInTexts().get(app) ?? '',
    isJson: true,
  });
}

let texts: ReadonlyMap<string, string> | undefined;

/**
 * The texts of the built-in catalogues by application. The build converts them from TOML to JSON, which is parsed in a
 * fraction of the time. The first call reads all of them, since an upgrade may replace or remove the files later.
 */
const builtInTexts = (): ReadonlyMap<string, string> =>
  (texts ??= new Map(BUILT_IN_APPS.map((app) => [app, builtInText(app)])));

const builtInText = (app: string): string =>
  readFileSync(new URL(`${app}.json`, import.meta.url), 'utf8');

/** The maximum number of catalogues in a cache. A cache that exceeds it drops its oldest catalogue. */
const MAX_CACHED = 64;

/** The parsed catalogues of a thread, by their texts. */
export class CatalogueCache {
  readonly #parsed = new Map<string, Catalogue>();

  /**
   * Returns the catalogue of a text. Parses the text unless the cache has its catalogue.
   * @throws Fault CONFIG_INVALID
   */
  get(source: CatalogueText): Catalogue {
    const { text } = source;
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    const catalogue = parsedCatalogue(source) ?? parseCatalogue(source);
    this.#parsed.set(text, catalogue);
    const [oldest] = this.#parsed.keys();
    if (this.#parsed.size > MAX_CACHED && oldest !== undefined) this.#parsed.delete(oldest);
    return catalogue;
  }
}
