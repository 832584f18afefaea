// Oddities of the tree: names and instances that occur twice.
import { choice, isChosen } from './choice.js';
import type { VendorObject, VendorValue, VendorVariable } from './vendor-tree.js';

/** Some variables occur twice in their object; the later one wins. */
export function withTwins(object: VendorObject): VendorObject {
  const { Instance, Variables } = object;
  const earlier = Variables.filter(
    ({ Name, Value }) => Value !== null && isChosen(`twin ${Instance} ${Name}`, 6),
  ).map(altered);
  if (earlier.length === 0) return object;
  return { ...object, Variables: [...earlier, ...Variables] };
}

/** Some instances occur twice, in their parent or elsewhere; the first in the text wins. */
export function withDuplicates(roots: readonly VendorObject[]): readonly VendorObject[] {
  const strays: VendorObject[] = [];
  const inside = (objects: readonly VendorObject[], isTop: boolean): readonly VendorObject[] => {
    const firsts = objects.map((object) => ({
      ...object,
      Children: inside(object.Children, false),
    }));
    const seconds = objects
      .filter(({ Instance }) => isChosen(`duplicate ${Instance}`, 6))
      .map(second);
    const isStray = ({ Instance }: VendorObject) => !isTop && choice(`stray ${Instance}`, 2) === 0;
    strays.push(...seconds.filter(isStray));
    return [...firsts, ...seconds.filter((each) => !isStray(each))];
  };
  const all = inside(roots, true);
  return all.map((root, index) =>
    index === roots.length - 1 ? { ...root, Children: [...root.Children, ...strays] } : root,
  );
}

const second = ({ Instance, Class, Variables }: VendorObject): VendorObject => ({
  Instance,
  Class,
  Variables: Variables.map(altered),
  Children: [],
});

const altered = (variable: VendorVariable): VendorVariable => ({
  ...variable,
  Value: another(variable.Value),
});

/** Another value of the same type, and of the same size if the type depends on it. */
function another(value: VendorValue): VendorValue {
  switch (typeof value) {
    case 'bigint':
      return value ^ 1n;
    case 'number':
      return value === 0.5 ? 1.5 : 0.5;
    case 'boolean':
      return !value;
    case 'string':
      return `${value}~`;
    default:
      return null;
  }
}
