// Keeps the values of each built-in catalogue beside its text, so that a start need not parse it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param dist the folder of the build */
export async function keepCatalogueValues(dist) {
  const load = (module) => import(new URL(`../${dist}/catalogue/${module}.js`, import.meta.url));
  const { BUILT_IN_APPS } = await load('builtin');
  const { keepValues } = await load('kept-values');
  for (const app of BUILT_IN_APPS) {
    const file = `${app}.toml`;
    const text = readFileSync(join(dist, 'catalogue', file), 'utf8');
    writeFileSync(join(dist, 'catalogue', `${app}.values`), keepValues({ file, text }));
  }
}
