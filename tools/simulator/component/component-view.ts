// The view of a component at a path, as far as that of real ones is known.
import { identity } from 'rxjs';
import { STATE_TEXTS } from './vendor-tree.js';
import type { VendorObject } from './vendor-tree.js';

/** A list is an array in JSON, also of one object; undefined if nothing exists there. */
export interface View {
  readonly content: readonly VendorObject[] | VendorObject | undefined;
}

/** The pages under `print`, with the classes that they list. */
const PRINTED: ReadonlyMap<string, RegExp> = new Map([
  ['services', /^(Consumer|RTRManaged|ManagedAggregate)?Service(\.|$)/],
  ['mounts', /^Consumer(\.|$)|Mount/],
  ['users', /User(\.|$)/],
  ['process', /Process(\.|$)/],
]);

/** Undefined for an unknown path; `path` has no query. */
export function viewAt(path: string, roots: readonly VendorObject[]): View | undefined {
  const [empty, tree, ...names] = path.split('/').map(decoded);
  if (empty !== '' || tree !== 'sharedmem') return undefined;
  const [kind, first = '', second, third = ''] = names;
  if (kind === undefined) return { content: roots };
  if (kind === 'classes' && second === 'instances' && names.length === 4)
    return { content: find(roots, first, third) };
  const pattern = PRINTED.get(first);
  if (kind !== 'print' || names.length !== 2 || pattern === undefined) return undefined;
  const printed = topmost(roots, pattern).map(first === 'services' ? withState : identity);
  return { content: printed.length > 0 ? printed : undefined };
}

function find(
  objects: readonly VendorObject[],
  className: string,
  instance: string,
): VendorObject | undefined {
  for (const object of objects) {
    if (object.Instance === instance && object.Class === className) return object;
    const below = find(object.Children, className, instance);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Objects of such classes, without those below one another. */
const topmost = (objects: readonly VendorObject[], pattern: RegExp): readonly VendorObject[] =>
  objects.flatMap((object) =>
    pattern.test(object.Class) ? [object] : topmost(object.Children, pattern),
  );

const withState = (service: VendorObject): VendorObject => ({
  ...service,
  State: service.State ?? STATE_TEXTS.normal,
});

/** Returned as it is if its encoding is invalid: then it matches no name. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
