// What to say of a class that no object fits.
import type { CatalogueClass } from '../../catalogue/catalogue-class.js';
import { quoted } from '../../document/document.js';

/** Names what the class stands for, since one of both is wrong where its objects exist. */
export function idleClass({ alias, classIds, paths }: CatalogueClass): string {
  const places = paths.map(({ text }) => text).join(' or ');
  return `no object fits ${quoted(alias)}, which stands for class ${classIds.join(' or ')} at ${places}`;
}
