// Arbitrary served trees, for property tests.
import fc from 'fast-check';
import { OBJECT_STATES } from '#app/model.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { anyCharacter } from '../any-character.js';

const anyText = fc.string({ unit: anyCharacter, maxLength: 12 });
const anyVariable = fc.record({
  name: anyText,
  type: fc.constantFrom('integer', 'f64', 'bool', 'string', 'histogram', 'nothing'),
  isUnsigned: fc.boolean(),
  kind: fc.constantFrom('unknown', 'counter', 'gauge'),
  integer: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 0n, max: 2n ** 33n }),
    fc.bigInt({ min: -100n, max: 100n }),
  ),
  double: fc.double(),
  text: fc.oneof(anyText, fc.integer().map(String)),
});

/** Creates objects. Each is a root, or a child of the earlier object that `above` selects. */
export const anyTree = fc.array(
  fc.record({
    name: anyText,
    className: anyText,
    state: fc.constantFrom(...OBJECT_STATES),
    above: fc.option(fc.nat(), { freq: 4 }),
    variables: fc.array(anyVariable, { maxLength: 8 }),
  }),
  { maxLength: 12 },
);
type Planned<T> = T extends fc.Arbitrary<infer P> ? P : never;

/** Appends a number to each id and name, because the ids and names of a real publisher are unique. */
export function served(plan: Planned<typeof anyTree>): ServedTree {
  const tree = new ServedTree();
  const made: PublishedObject[] = [];
  plan.forEach(({ name, className, state, above, variables }, index) => {
    const parent = above === null ? undefined : made[above % Math.max(1, made.length)];
    const id = `${name}.${index}`;
    const object =
      parent === undefined
        ? tree.addRoot(id, className, { state })
        : tree.addObject(parent, id, className, { state });
    made.push(object);
    variables.forEach((each, at) => {
      addVariable(tree, object, { ...each, name: `${each.name}.${at}` });
    });
  });
  return tree;
}

function addVariable(
  tree: ServedTree,
  object: PublishedObject,
  { name, type, isUnsigned, kind, integer, double, text }: Planned<typeof anyVariable>,
): void {
  if (type === 'string') tree.addVariable(object, name, type).set(text);
  else if (type === 'f64') tree.addVariable(object, name, type, { kind }).set(double);
  else if (type === 'bool') tree.addVariable(object, name, type).set(integer % 2n === 0n);
  else if (type === 'integer') {
    // Readers regard a negative counter as wrapped around, so a counter with negative bits gets an unsigned
    // type.
    const isNegative = BigInt.asIntN(64, integer) < 0n;
    const own = isUnsigned || (kind === 'counter' && isNegative) ? 'u64' : 'i64';
    tree.addVariable(object, name, own, { kind }).set(integer);
  } else tree.addVariable(object, name, type === 'nothing' ? 'i64' : type, { kind });
}
