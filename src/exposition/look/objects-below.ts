// An object and those below it.
import type { ManagedObject } from '../../model.js';

/** In the order of the tree. */
export function* objectsBelow(top: ManagedObject): Generator<ManagedObject, void> {
  yield top;
  const levels = [top.children[Symbol.iterator]()];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = level.next();
    if (next.done === true) {
      levels.pop();
      continue;
    }
    yield next.value;
    const { children } = next.value;
    if (children.size > 0) levels.push(children[Symbol.iterator]());
  }
}
