// placed() returns the path of an object with its ancestors, for tests that need no tree.
import type { ObjectPath } from '#app/catalogue/match/row-index.js';

/** @param ancestors the class of each ancestor by its seed path */
export const placed = (
  className: string,
  seedPath: string,
  ancestors: Readonly<Record<string, string>> = {},
): ObjectPath => ({
  className,
  seedPath,
  ancestor: (path) => (Object.hasOwn(ancestors, path) ? ancestors[path] : undefined),
});
