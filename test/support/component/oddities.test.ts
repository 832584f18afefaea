import { expect } from 'chai';
import fc from 'fast-check';
import { ODDITY_NAMES, OddityFilter } from './oddities.js';
import type { OddityName } from './oddities.js';
import type { ServedTree } from '#app/simulator/component/served-tree.js';
import { vendorObject } from '#app/simulator/component/vendor-json.js';
import { ask } from '../component-client.js';
import { readComponent } from '../component-reader.js';
import { freshComponents, treeOf } from './components.js';
import { expectedObjects } from '../expected-objects.js';
import { ODD_SCENARIO } from '../odd-scenario.js';
import { anyTree, served } from './any-tree.js';

function text(tree: ServedTree, ...oddities: readonly OddityName[]): string {
  const filter = new OddityFilter(oddities);
  return filter.text(filter.tree(Array.from(tree.roots, vendorObject)));
}

const odd = treeOf(ODD_SCENARIO);
/** Counts the matches of a pattern in the text of the odd scenario. */
const count = (pattern: RegExp, ...oddities: readonly OddityName[]): number =>
  [...text(odd, ...oddities).matchAll(pattern)].length;

describe('the irregularity', () => {
  for (const name of ODDITY_NAMES) {
    it(`"${name}" changes the text of an answer, but not the objects that a reader finds in it`, () => {
      const plain = text(odd);
      const changed = text(odd, name);
      expect(changed).not.to.equal(plain);
      expect(readComponent(changed)).to.deep.equal(expectedObjects(odd));
      expect(text(odd, name), 'at the next poll').to.equal(changed);
    });

    it(`"${name}" does not change the objects of a random tree`, () => {
      fc.assert(
        fc.property(anyTree, (plan) => {
          const tree = served(plan);
          expect(readComponent(text(tree, name))).to.deep.equal(expectedObjects(tree));
        }),
      );
    });
  }

  it('of any kind changes no objects, even together with other kinds', () => {
    fc.assert(
      fc.property(anyTree, fc.subarray([...ODDITY_NAMES]), (plan, names) => {
        const tree = served(plan);
        expect(readComponent(text(tree, ...names))).to.deep.equal(expectedObjects(tree));
      }),
      { numRuns: 50 },
    );
    expect(readComponent(text(odd, ...ODDITY_NAMES))).to.deep.equal(expectedObjects(odd));
  });

  const effects: readonly (readonly [OddityName, string, RegExp])[] = [
    ['repeated_variables', 'a second variable with the same name', /"Name":"received"/g],
    [
      'repeated_objects',
      'a second object with the same id',
      /"Instance":"desk\.example\.com\.1\.adh\.1\.sourceThread\.source\.\d+"/g,
    ],
    [
      'wrapped_counters',
      'a counter near 3000000000 as a negative number',
      /"Type":"Counter","Value":-1294967\d{3}/g,
    ],
    ['wrapped_counters', 'a counter of -1', /"Type":"Counter","Value":-1\}/g],
    ['wrapped_counters', 'a counter of -2147483648', /"Type":"Counter","Value":-2147483648\}/g],
    [
      'numeric_ranges',
      'a number with its range in a text',
      /"Type":"Numeric Range","Value":"-?\d+ \(-?\d+\.\.\d+\)"/g,
    ],
    ['numeric_ranges', 'a number of a range type', /"Type":"Numeric Range","Value":\d+/g],
    ['config_types', 'the type Boolean Config', /"Type":"Boolean Config"/g],
    ['config_types', 'the type Gauge Config', /"Type":"Gauge Config"/g],
    ['config_types', 'the type Numeric Config', /"Type":"Numeric Config"/g],
    ['config_types', 'the type String Config', /"Type":"String Config"/g],
    [
      'unknown_types',
      'a boolean of an unknown type',
      /"Type":"Exotic Thing","Value":(true|false)/g,
    ],
    ['unknown_types', 'a number of an unknown type', /"Type":"Exotic Thing","Value":-?\d/g],
    ['unknown_types', 'a text of an unknown type', /"Type":"Exotic Thing","Value":"/g],
    ['numeric_texts', 'a number of the type String', /"Type":"String","Value":\d+/g],
    ['missing_lists', 'null for the variables', /"Variables":null/g],
    ['missing_lists', 'null for the children', /"Children":null/g],
    [
      'missing_lists',
      'an object that lacks the list of variables or of children',
      /"Class":"[^"]*","Children"|"Class":"[^"]*"\}/g,
    ],
    ['unknown_members', 'an unknown state', /"State":"Splendid"/g],
    ['unknown_members', 'the unknown member Links', /"Links":/g],
    ['unknown_members', 'the unknown member History', /"History":/g],
    ['formatting', 'indentation', /\n\t/g],
    ['formatting', 'a letter outside ASCII as an escape', /\\u00E4/g],
    ['formatting', 'an ASCII letter as an escape', /\\u0061/g],
    [
      'formatting',
      'another order of members',
      /\{\n\t+"[^"]*" : [^\n]*\n\t+"Value" : [^\n]*\n\t+"Name"|\{\n\t+"Value"/g,
    ],
  ];
  for (const [name, what, pattern] of effects)
    it(`"${name}" adds ${what}`, () => expect(count(pattern, name)).to.be.above(count(pattern)));

  describe('together with all other kinds', () => {
    const serve = freshComponents();

    it('can occur in one answer of a component', async () => {
      const server = await serve({ oddities: ODDITY_NAMES }, odd);
      const { text: whole } = await ask(`${server.url}/sharedmem`);
      expect(whole).to.equal(text(odd, ...ODDITY_NAMES));
    });
  });
});
