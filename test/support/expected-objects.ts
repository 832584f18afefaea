// The objects that a reader of a component must return. They are computed from the served tree, not from its
// JSON.
import type {
  ServedObject,
  ServedTree,
  ServedVariable,
} from '#app/simulator/component/served-tree.js';
import { STATE_TEXTS } from '#app/simulator/component/vendor-json.js';
import type { ReadObject, ReadVariable } from './component-reader.js';

export function expectedObjects(tree: ServedTree): ReadonlyMap<string, ReadObject> {
  const objects = new Map<string, ReadObject>();
  const add = ({ id, className, state, variables, children }: ServedObject, parent?: string) => {
    const known = [...variables].filter(({ type }) => type !== 'histogram' && type !== 'summary');
    objects.set(id, {
      className,
      parent,
      state: STATE_TEXTS[state],
      variables: new Map(known.map((each) => [each.name, expectedVariable(each)])),
    });
    for (const child of children) add(child, id);
  };
  for (const root of tree.roots) add(root);
  return objects;
}

function expectedVariable({ type, kind, value }: ServedVariable): ReadVariable {
  const isInteger = type === 'u64' || type === 'i64';
  const hasJsonValue = typeof value !== 'number' || Number.isFinite(value);
  return { kind: isInteger ? kind : 'unknown', value: hasJsonValue ? (value ?? null) : null };
}
