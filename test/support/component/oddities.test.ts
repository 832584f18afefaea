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

describe('the oddity', () => {
  for (const name of ODDITY_NAMES) {
    it(`${name} changes the text and keeps its meaning`, () => {
      const plain = text(odd);
      const changed = text(odd, name);
      expect(changed).not.to.equal(plain);
      expect(readComponent(changed)).to.deep.equal(expectedObjects(odd));
      expect(text(odd, name), 'at the next poll').to.equal(changed);
    });

    it(`${name} keeps the meaning of any tree`, () => {
      fc.assert(
        fc.property(anyTree, (plan) => {
          const tree = served(plan);
          expect(readComponent(text(tree, name))).to.deep.equal(expectedObjects(tree));
        }),
      );
    });
  }

  it('of any kind goes with any other', () => {
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
    ['twins', /"Name":"received"/g],
    ['duplicates', /"Instance":"desk\.example\.com\.1\.adh\.1\.sourceThread\.source\.\d+"/g],
    ['wrapped', /"Type":"Counter","Value":-1294967\d{3}/g],
    ['wrapped', /"Type":"Counter","Value":-1\}/g],
    ['wrapped', /"Type":"Counter","Value":-2147483648\}/g],
    ['ranges', /"Type":"Numeric Range","Value":"-?\d+ \(-?\d+\.\.\d+\)"/g],
    ['ranges', /"Type":"Numeric Range","Value":\d+/g],
    ['config_types', /"Type":"Boolean Config"/g],
    ['config_types', /"Type":"Gauge Config"/g],
    ['config_types', /"Type":"Numeric Config"/g],
    ['config_types', /"Type":"String Config"/g],
    ['strange_types', /"Type":"Exotic Thing","Value":(true|false)/g],
    ['strange_types', /"Type":"Exotic Thing","Value":-?\d/g],
    ['strange_types', /"Type":"Exotic Thing","Value":"/g],
    ['numbers_for_texts', /"Type":"String","Value":\d+/g],
    ['absent', /"Variables":null/g],
    ['absent', /"Children":null/g],
    ['absent', /"Class":"[^"]*","Children"|"Class":"[^"]*"\}/g],
    ['extras', /"State":"Splendid"/g],
    ['extras', /"Links":/g],
    ['extras', /"History":/g],
    ['spelling', /\n\t/g],
    ['spelling', /\\u00E4/g],
    ['spelling', /\\u0061/g],
    ['spelling', /\{\n\t+"[^"]*" : [^\n]*\n\t+"Value" : [^\n]*\n\t+"Name"|\{\n\t+"Value"/g],
  ];
  for (const [name, pattern] of effects)
    it(`${name} makes more of ${pattern.source}`, () =>
      expect(count(pattern, name)).to.be.above(count(pattern)));

  describe('served', () => {
    const serve = freshComponents();

    it('shows in the answers', async () => {
      const server = await serve({ oddities: ODDITY_NAMES }, odd);
      const { text: whole } = await ask(`${server.url}/sharedmem`);
      expect(whole).to.equal(text(odd, ...ODDITY_NAMES));
    });
  });
});
