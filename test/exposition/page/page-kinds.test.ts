// What is kept of pages that are alike, and of which target.
import { expect } from 'chai';
import { PageKinds } from '#app/exposition/page/page-kinds.js';
import type { FamilyFacts } from '#app/model.js';

describe('what is kept of pages', () => {
  const facts = Array.from({ length: 12 }, (_, i): FamilyFacts => ({
    name: `x${i}`,
    type: 'gauge',
    unit: '',
    help: '',
  }));
  const [a, b, c] = facts as [FamilyFacts, FamilyFacts, FamilyFacts];
  const [one, other] = [{}, {}];

  it('is the same where they begin and end with the same families', () => {
    const kinds = new PageKinds(() => ({}));
    expect(kinds.of(one, [a, b])).to.equal(kinds.of(one, [a, c, b]));
    expect(kinds.of(one, [a, b])).not.to.equal(kinds.of(one, [a, c]));
    expect(kinds.of(one, [a, b])).not.to.equal(kinds.of(one, [b]));
    expect(kinds.of(one, [])).to.equal(kinds.of(one, []));
  });

  it('is of one target, though others have the same families', () => {
    const kinds = new PageKinds(() => ({}));
    const [first, second] = [kinds.of(one, [a, b]), kinds.of(other, [a, b])];
    expect(first).not.to.equal(second);
    expect([kinds.of(one, [a, b]), kinds.of(other, [a, b])]).to.deep.equal([first, second]);
  });

  it('is of eight kinds at most, those that were asked for last', () => {
    let made = 0;
    const kinds = new PageKinds(() => made++);
    for (const each of facts.slice(0, 8)) kinds.of(one, [each]);
    expect(kinds.of(one, [a])).to.equal(0);
    kinds.of(one, facts.slice(8, 9));
    expect(kinds.of(one, [a]), 'asked for again since').to.equal(0);
    expect(kinds.of(one, [b]), 'forgotten').to.equal(9);
  });
});
