import { expect } from 'chai';
import fc from 'fast-check';
import { ServedTree, vendorJson, vendorObject } from '#app/simulator/component/served-tree.js';
import type { VendorObject } from '#app/simulator/component/served-tree.js';
import { readComponent } from '../../support/component-reader.js';
import { treeOf } from '../../support/components.js';
import { meaningOf } from '../../support/meaning.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';
import { anyTree, served } from './any-tree.js';

const text = (tree: ServedTree) => vendorJson(Array.from(tree.roots, vendorObject));
/** As JSON.parse gives it: integers as doubles, NaN and infinities as null. */
const rounded = (object: VendorObject): object => ({
  ...object,
  Variables: object.Variables.map(({ Value, ...names }) => {
    const value = typeof Value === 'bigint' ? Number(Value) : Value;
    return { ...names, Value: typeof value === 'number' && !isFinite(value) ? null : value };
  }),
  Children: object.Children.map(rounded),
});
const values = (variables: object) =>
  text(treeOf({ objects: [{ id: 'h.1.x', class: 'C', variables }] }));

describe("the vendor's JSON", () => {
  it('shows objects, variables and states in the order of publication', () => {
    const objects = [
      { id: 'h.1.x', class: 'P', variables: { a: { type: 'bool', value: true } } },
      { id: 'h.2.x', class: 'Q', state: 'auto_recovery' },
      { id: 'h.1.x.c', parent: 'h.1.x', class: 'C', variables: { b: { type: 'string' } } },
    ];
    expect(text(treeOf({ objects }))).to.equal(
      '[{"Instance":"h.1.x","Class":"P","Variables":[{"Name":"a","Type":"Boolean","Value":true}],"Children":[' +
        '{"Instance":"h.1.x.c","Class":"C","Variables":[{"Name":"b","Type":"String","Value":null}],"Children":[]}]},' +
        '{"Instance":"h.2.x","Class":"Q","State":"Auto Recovery","Variables":[],"Children":[]}]',
    );
  });

  const spellings = [
    [{ type: 'u64', value: '18446744073709551615' }, '18446744073709551615'],
    [{ type: 'i64', value: '-9223372036854775808' }, '-9223372036854775808'],
    [{ type: 'i64', value: '9007199254740993' }, '9007199254740993'],
    [{ type: 'f64', value: 42 }, '42.0'],
    [{ type: 'f64', value: -0.25 }, '-0.25'],
    [{ type: 'f64', value: 1e21 }, '1e+21'],
    [{ type: 'f64', value: 'NaN' }, 'null'],
    [{ type: 'f64', value: '-Infinity' }, 'null'],
    [{ type: 'string', value: '"\\\n\u0000é' }, '"\\"\\\\\\n\\u0000é"'],
  ] as const;
  for (const [variable, expected] of spellings)
    it(`writes ${JSON.stringify(variable)} as ${expected}`, () =>
      expect(values({ v: variable })).to.include(`"Value":${expected}}`));

  it('leaves out what the vendor has nothing like', () =>
    expect(
      values({
        h: { type: 'histogram', value: { bounds: [1], counts: [0, 0], sum: 0 } },
        s: { type: 'summary', value: { quantiles: {}, count: 0, sum: 0 } },
      }),
    ).to.include('"Variables":[]'));

  it('is JSON that gives any tree back', () => {
    fc.assert(
      fc.property(anyTree, (plan) => {
        const tree = served(plan);
        const json = text(tree);
        expect(readComponent(json)).to.deep.equal(meaningOf(tree));
        // Another parser, which rounds integers, sees the same members in the same order.
        expect(JSON.parse(json)).to.deep.equal(Array.from(tree.roots, vendorObject).map(rounded));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every digit of any integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const tree = new ServedTree();
        const root = tree.addRoot('h.1.x', 'C');
        tree.addVariable(root, 'u', 'u64').set(value);
        tree.addVariable(root, 'i', 'i64').set(value);
        const read = readComponent(text(tree)).get('h.1.x')?.variables;
        expect(read?.get('u')?.value).to.equal(value);
        expect(read?.get('i')?.value).to.equal(BigInt.asIntN(64, value));
      }),
    );
  });

  it('survives trees as deep as a served tree may be', () => {
    const tree = new ServedTree();
    let parent = tree.addRoot('h.1.x', 'C');
    for (let depth = 2; depth <= 1000; depth++) parent = tree.addObject(parent, `h.${depth}`, 'C');
    expect(readComponent(text(tree))).to.have.property('size', 1000);
    expect(() => tree.addObject(parent, 'one more', 'C')).to.throw(
      RangeError,
      'Object "one more" has 1000 objects on a path above it already',
    );
  });

  it('shows the odd scenario whole', () => {
    const tree = treeOf(ODD_SCENARIO);
    const objects = readComponent(text(tree));
    expect(objects).to.deep.equal(meaningOf(tree));
    expect([...objects.keys()]).to.have.members(ODD_SCENARIO.objects.map(({ id }) => id));
    const numbers = objects.get('desk.example.com.1.adh.numbers')?.variables;
    expect(numbers?.get('most of u64')?.value).to.equal(2n ** 64n - 1n);
    expect(numbers?.get('least of i64')?.value).to.equal(-(2n ** 63n));
  });
});
