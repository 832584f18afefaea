// Streams that are kept with their families, in memory that is used again.
import { expect } from 'chai';
import { StreamCache } from '#app/exposition/page/stream-cache.js';
import { familyText } from '#app/exposition/text/family-text.js';
import type { FamilyText } from '#app/model.js';

describe('a cache of streams', () => {
  const facts = { name: 'x', type: 'gauge', unit: '', help: '' } as const;
  /** The families of another snapshot, with the same facts. */
  const families = (): FamilyText[] => [familyText(facts, [])];

  const caching = () => {
    const cache = new StreamCache();
    const memories: Uint32Array[] = [];
    const get = (of: FamilyText[], words = 100) =>
      cache.get(of, (memoryFor) => {
        const memory = memoryFor(words);
        memories.push(memory);
        return { pieces: [], crc: memories.length, bytes: 0 };
      });
    return { get, memories };
  };

  it('makes one for the same families', () => {
    const { get, memories } = caching();
    const first = families();
    expect(get(first)).to.equal(get(first));
    expect(memories).to.have.lengthOf(1);
    expect(get(families())).not.to.equal(get(first));
  });

  it('uses the memory of one that nobody sends, and forgets that one', () => {
    const { get, memories } = caching();
    const [first, next] = [families(), families()];
    get(first);
    get(next, 90);
    expect(memories[1]).to.equal(memories[0]);
    expect(get(next).crc).to.equal(2);
    expect(get(first).crc).to.equal(3);
  });

  it('never uses memory that is being sent', () => {
    const { get, memories } = caching();
    const releases = Array.from({ length: 9 }, () => get(families()).hold?.());
    expect(new Set(memories).size).to.equal(9);
    for (const release of releases) release?.();
    for (const release of releases) release?.(); // once is enough
    get(families());
    expect(memories.slice(0, 9)).to.include(memories[9]);
  });

  it('leaves memory that is too small, or far too large', () => {
    const { get, memories } = caching();
    for (const words of [100, 200, 50]) get(families(), words);
    expect(new Set(memories).size).to.equal(3);
  });

  it('makes one of nothing', () => {
    const { get } = caching();
    expect(get([]).crc).to.equal(1);
  });
});
