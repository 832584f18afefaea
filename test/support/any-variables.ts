// Trees with variables of all types, whose names and labels may clash, for property tests of page formats.
import fc from 'fast-check';
import { FakeSource } from './fake-source.js';
import type { FakeObject, VariableOptions } from './fake-source.js';

const scalars = ['x', 'x total', 'x info', 'x created', 'x total info', 'y bytes', 'y'];
const ofSeries = ['h count', 'h sum', 'h bucket', 'h created', 'h', 's count', 's sum'];
const number = fc.double();
const count = fc.bigInt({ min: 0n, max: 2n ** 60n });
const bounds = fc
  .uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 })
  .map((all) => all.map((bound) => bound + 0).toSorted((a, b) => a - b))
  .chain((all) =>
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(all.filter((bound) => bound >= 0)) },
      fc.constant(all),
    ),
  );
const sum = fc.oneof(
  { weight: 20, arbitrary: fc.double({ min: 0, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, NaN) },
);
const variable: fc.Arbitrary<readonly [string, VariableOptions]> = fc.oneof(
  fc.tuple(
    fc.constantFrom(...scalars),
    fc.record({
      type: fc.constant('f64' as const),
      kind: fc.constantFrom('gauge' as const, 'unknown' as const),
      value: number,
    }),
  ),
  fc.tuple(
    fc.constantFrom(...scalars),
    fc.record({
      type: fc.constantFrom('f64' as const, 'i64' as const),
      kind: fc.constant('counter' as const),
      value: fc.oneof(
        { weight: 20, arbitrary: fc.nat() },
        { weight: 1, arbitrary: fc.constant(-1) },
      ),
    }),
  ),
  fc.tuple(
    fc.constantFrom(...scalars, ...ofSeries),
    fc.record({
      type: fc.constant('u64' as const),
      kind: fc.constant('counter' as const),
      value: count,
    }),
  ),
  fc.tuple(
    fc.constantFrom(...scalars, ...ofSeries),
    fc.record({ type: fc.constant('string' as const), value: fc.string({ unit: 'grapheme' }) }),
  ),
  bounds.chain((schema) =>
    fc.tuple(
      fc.constant('h'),
      fc.record({
        type: fc.constant('histogram' as const),
        schema: fc.constant(schema),
        value: fc.record({
          type: fc.constant('histogram' as const),
          counts: fc
            .array(fc.bigInt({ min: 0n, max: 1000n }), {
              minLength: schema.length + 1,
              maxLength: schema.length + 1,
            })
            .map((all) => BigUint64Array.from(all)),
          sum,
        }),
      }),
    ),
  ),
  fc.tuple(
    fc.constant('s'),
    fc.record({
      type: fc.constant('summary' as const),
      schema: fc.constant([0, 0.5, 1]),
      value: fc.record({
        type: fc.constant('summary' as const),
        count,
        sum,
        values: fc
          .array(fc.oneof({ weight: 30, arbitrary: fc.double({ min: 0 }) }, fc.constant(-2)), {
            ...{ minLength: 3, maxLength: 3 },
          })
          .map((all) => Float64Array.from(all)),
      }),
    }),
  ),
);
const described = fc.record({
  unit: fc.constantFrom('', 'bytes', 'created', 'info', 'x\ny'),
  help: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\n', 'a\nb', '\r')),
});

/** For each object, its variables with name and options. */
type Variables = readonly (readonly (readonly [string, VariableOptions])[])[];

export const anyVariables: fc.Arbitrary<Variables> = fc.array(
  fc.array(
    fc
      .tuple(variable, described)
      .map(([[name, options], more]) => [name, { ...options, ...more }] as const),
    { maxLength: 8 },
  ),
  { minLength: 1, maxLength: 4 },
);

/** A tree of the application `demo` with these variables. */
export function treeWith(variables: Variables): { source: FakeSource; root: FakeObject } {
  const source = new FakeSource();
  const root = source.addObject('h.1.demo', 'C');
  variables.forEach((ofObject, index) => {
    const object = source.addObject(`h.1.demo.${index}`, 'C', { parent: root });
    for (const [name, options] of ofObject) source.addVariable(object, name, options);
  });
  return { source, root };
}
