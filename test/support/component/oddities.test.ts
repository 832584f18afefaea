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
/** How often a pattern is in the odd scenario's text. */
const count = (pattern: RegExp, ...oddities: readonly OddityName[]): number =>
  [...text(odd, ...oddities).matchAll(pattern)].length;

describe('the irregularity', () => {
  for (const name of ODDITY_NAMES) {
    it(`${name} changes the text, but not the objects that a reader returns`, () => {
      const plain = text(odd);
      const changed = text(odd, name);
      expect(changed).not.to.equal(plain);
      expect(readComponent(changed)).to.deep.equal(expectedObjects(odd));
      expect(text(odd, name), 'at the next poll').to.equal(changed);
    });

    it(`${name} does not change the objects of any tree`, () => {
      fc.assert(
        fc.property(anyTree, (plan) => {
          const tree = served(plan);
          expect(readComponent(text(tree, name))).to.deep.equal(expectedObjects(tree));
        }),
      );
    });
  }

  it('of any kind can be combined with any other', () => {
    fc.assert(
      fc.property(anyTree, fc.subarray([...ODDITY_NAMES]), (plan, names) => {
        const tree = served(plan);
        expect(readComponent(text(tree, ...names))).to.deep.equal(expectedObjects(tree));
      }),
      { numRuns: 50 },
    );
    expect(readComponent(text(odd, ...ODDITY_NAMES))).to.deep.equal(expectedObjects(odd));
  });

  const effects: readonly (readonly [OddityName, RegExp])[] = [
    ['repeated_variables', /"Name":"received"/g],
    ['repeated_objects', /"Instance":"desk\.example\.com\.1\.adh\.1\.sourceThread\.source\.\d+"/g],
    ['wrapped_counters', /"Type":"Counter","Value":-1294967\d{3}/g],
    ['wrapped_counters', /"Type":"Counter","Value":-1\}/g],
    ['wrapped_counters', /"Type":"Counter","Value":-2147483648\}/g],
    ['numeric_ranges', /"Type":"Numeric Range","Value":"-?\d+ \(-?\d+\.\.\d+\)"/g],
    ['numeric_ranges', /"Type":"Numeric Range","Value":\d+/g],
    ['config_types', /"Type":"Boolean Config"/g],
    ['config_types', /"Type":"Gauge Config"/g],
    ['config_types', /"Type":"Numeric Config"/g],
    ['config_types', /"Type":"String Config"/g],
    ['unknown_types', /"Type":"Exotic Thing","Value":(true|false)/g],
    ['unknown_types', /"Type":"Exotic Thing","Value":-?\d/g],
    ['unknown_types', /"Type":"Exotic Thing","Value":"/g],
    ['numeric_texts', /"Type":"String","Value":\d+/g],
    ['missing_lists', /"Variables":null/g],
    ['missing_lists', /"Children":null/g],
    ['missing_lists', /"Class":"[^"]*","Children"|"Class":"[^"]*"\}/g],
    ['unknown_members', /"State":"Splendid"/g],
    ['unknown_members', /"Links":/g],
    ['unknown_members', /"History":/g],
    ['formatting', /\n\t/g],
    ['formatting', /\\u00E4/g],
    ['formatting', /\\u0061/g],
    ['formatting', /\{\n\t+"[^"]*" : [^\n]*\n\t+"Value" : [^\n]*\n\t+"Name"|\{\n\t+"Value"/g],
  ];
  for (const [name, pattern] of effects)
    it(`${name} adds matches of ${pattern.source}`, () =>
      expect(count(pattern, name)).to.be.above(count(pattern)));

  describe('of any kind', () => {
    const serve = freshComponents();

    it('is in the answers of a component', async () => {
      const server = await serve({ oddities: ODDITY_NAMES }, odd);
      const { text: whole } = await ask(`${server.url}/sharedmem`);
      expect(whole).to.equal(text(odd, ...ODDITY_NAMES));
    });
  });
});
