// The objects that a component serves, derived without JSON: the expected result of a reader.
import type {
  ServedObject,
  ServedTree,
  ServedVariable,
} from '#app/simulator/component/served-tree.js';
import { STATE_TEXTS } from '#app/simulator/component/vendor-json.js';
import type { ReadObject, ReadVariable } from './component-reader.js';

export function meaningOf(tree: ServedTree): ReadonlyMap<string, ReadObject> {
  const objects = new Map<string, ReadObject>();
  const add = ({ id, className, state, variables, children }: ServedObject, parent?: string) => {
    const known = [...variables].filter(({ type }) => type !== 'histogram' && type !== 'summary');
    objects.set(id, {
      className,
      parent,
      state: STATE_TEXTS[state],
      variables: new Map(known.map((each) => [each.name, meaning(each)])),
    });
    for (const child of children) add(child, id);
  };
  for (const root of tree.roots) add(root);
  return objects;
}

function meaning({ type, kind, value }: ServedVariable): ReadVariable {
  const isInteger = type === 'u64' || type === 'i64';
  const isTold = typeof value !== 'number' || Number.isFinite(value);
  return { kind: isInteger ? kind : 'unknown', value: isTold ? (value ?? null) : null };
}
