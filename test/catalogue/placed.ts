// placed(): objects with a path and ancestors, for tests without a tree.
import type { ObjectPath } from '#app/catalogue/match/row-index.js';

/** An object with these ancestors, given as class by seed path. */
export const placed = (
  className: string,
  seedPath: string,
  ancestors: Readonly<Record<string, string>> = {},
): ObjectPath => ({
  className,
  seedPath,
  ancestor: (path) => (Object.hasOwn(ancestors, path) ? ancestors[path] : undefined),
});
