// placed(): objects with a path and ancestors, for tests without a tree.
import type { PlacedObject } from '#app/catalogue/match/rules.js';

/** An object with these ancestors, given as class by seed path. */
export const placed = (
  className: string,
  seedPath: string,
  ancestors: Readonly<Record<string, string>> = {},
): PlacedObject => ({
  className,
  seedPath,
  ancestor: (path) => (Object.hasOwn(ancestors, path) ? ancestors[path] : undefined),
});
