// The text of all families against a plain renderer.
import { expect } from 'chai';
import fc from 'fast-check';
import { Effort } from '#app/exposition/effort.js';
import { Kernel, OP, OVERRUN } from '#app/exposition/wasm/kernel.js';
import { MAX_LINES } from '#app/exposition/wasm/layout.js';
import { sizeClass } from '#app/exposition/wasm/memory.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import { bitsOf } from '../../support/fake-source.js';
import { finished } from '../../support/finished.js';
import { Cells, cellLine, fixedLine } from '../../support/lines.js';
import {
  ALWAYS,
  FAMILIES,
  FORMS,
  HUNDREDS,
  LABELS,
  TextPair,
  VALUES,
  facts,
  piecesSent,
  textOf,
} from '../../support/text-pair.js';

const family = fc.nat(HUNDREDS.length - 1);
const value = fc.option(fc.nat(VALUES - 1));
const number = fc.oneof(fc.double(), fc.constantFrom(-1.2345678901234567e-6, 0, 1e300));
const key = { family, owner: fc.nat(40), sub: fc.nat(2) };
const run = { family, from: fc.nat(8000), count: fc.nat(5000), by: fc.constantFrom(1, -1, 7) };

const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), ...key, value }),
  fc.record({ kind: fc.constant('remove' as const), ...key }),
  fc.record({ kind: fc.constant('set' as const), index: fc.nat(VALUES - 1), number }),
  fc.record({
    kind: fc.constant('render' as const),
    isHeld: fc.boolean(),
    forms: fc.constantFrom(...Object.values(FORMS)),
  }),
);
const failure = fc.oneof(
  fc.record({
    kind: fc.constant('renderWithout' as const),
    memory: fc.nat(12),
    forms: fc.constantFrom(...Object.values(FORMS)),
  }),
  fc.record({
    kind: fc.constant('renderPartly' as const),
    steps: fc.nat(20),
    forms: fc.constantFrom(...Object.values(FORMS)),
  }),
);
const smallStep = fc.oneof({ weight: 12, arbitrary: step }, { weight: 1, arbitrary: failure });
const largeStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('putMany' as const), ...run, value }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('removeMany' as const), ...run }) },
  { weight: 5, arbitrary: step },
  { weight: 1, arbitrary: failure },
);

/** The owners of a run: in order, backwards, or scattered. */
const ownersOf = ({ from, count, by }: { from: number; count: number; by: number }) =>
  Array.from({ length: count }, (_, i) => from + ((((i * by) % 5003) + 5003) % 5003));

const families = { first: fc.nat(299), count: fc.nat(80), lines: fc.nat(12) };
const familyStep = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('putFamilies' as const), ...families }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('removeFamilies' as const), ...families }),
  },
  { weight: 8, arbitrary: step },
  { weight: 2, arbitrary: failure },
);

type ValueOf<T> = T extends fc.Arbitrary<infer V> ? V : never;
type Step = ValueOf<typeof largeStep> | ValueOf<typeof familyStep>;

function perform(pair: TextPair, each: Step): void {
  switch (each.kind) {
    case 'put':
      pair.put(each.family, each.owner, each.sub, each.value ?? undefined);
      return;
    case 'remove':
      pair.remove(each.family, each.owner, each.sub);
      return;
    case 'set':
      pair.set(each.index, each.number);
      return;
    case 'render':
      pair.render(each.isHeld, each.forms);
      return;
    case 'renderWithout':
      pair.renderWithout(each.memory, each.forms);
      return;
    case 'renderPartly':
      pair.renderPartly(each.steps, each.forms);
      return;
    case 'putMany':
      for (const owner of ownersOf(each))
        pair.put(each.family, owner, 0, each.value === null ? undefined : owner % VALUES);
      return;
    case 'removeMany':
      for (const owner of ownersOf(each)) pair.remove(each.family, owner, 0);
      return;
    case 'putFamilies':
      for (let i = 0; i < each.count; i++)
        for (let owner = 0; owner < each.lines; owner++)
          pair.put(each.first + i, owner, 0, (owner * 7 + i) % VALUES);
      return;
    case 'removeFamilies':
      for (let i = 0; i < each.count; i++)
        for (let owner = 0; owner < each.lines; owner++) pair.remove(each.first + i, owner, 0);
  }
}

function play(steps: readonly Step[], families = FAMILIES): void {
  const pair = new TextPair(LABELS, families);
  for (const each of steps) perform(pair, each);
  pair.render(false, FORMS.both);
  pair.close();
}

describe('the text of all families', () => {
  it('is what a plain renderer gives, whatever comes, goes and changes', () =>
    fc.assert(
      fc.property(fc.array(smallStep, { maxLength: 80 }), (steps) => {
        play(steps);
      }),
      { numRuns: 150 },
    ));

  it('is so with thousands of lines, which split and merge blocks', () =>
    fc.assert(
      fc.property(fc.array(largeStep, { minLength: 8, maxLength: 25 }), (steps) => {
        play([{ kind: 'putMany', family: 0, from: 0, count: 5003, by: 7, value: 1 }, ...steps]);
      }),
      { numRuns: 10 },
    ));

  it('is so with hundreds of families, which share chunks and leave them', () =>
    fc.assert(
      fc.property(fc.array(familyStep, { minLength: 5, maxLength: 20 }), (steps) => {
        play([{ kind: 'putFamilies', first: 0, count: 300, lines: 2 }, ...steps], HUNDREDS);
      }),
      { numRuns: 15 },
    ));

  it('8000 lines that come in order and go in any order', () => {
    const pair = new TextPair();
    for (let owner = 0; owner < 8000; owner++) pair.put(0, owner, 0, owner % VALUES);
    expect(pair.render().families[0]?.pieces).to.have.lengthOf(5);
    for (let i = 0; i < 7800; i++) {
      pair.remove(0, (i * 1009) % 8000, 0);
      if (i % 1000 === 0) pair.render();
    }
    expect(pair.render().families[0]?.pieces.length).to.be.at.most(2);
    pair.close();
  });

  it('of lines that come and go in their order, some of which stay, few blocks are kept and little memory', () => {
    const pair = new TextPair([(owner) => `{owner="${owner}"}`]);
    const [LINES, STAY] = [8 * MAX_LINES, MAX_LINES / 4];
    for (let owner = 0; owner < LINES; owner++) pair.put(0, owner, 0, owner % VALUES);
    pair.render(false, FORMS.both);
    const before = pair.kernel.arena.used;
    for (let owner = 0; owner < LINES; owner++) if (owner % STAY !== 5) pair.remove(0, owner, 0);
    const [family] = pair.render(false, FORMS.both).families;
    expect(family?.pieces).to.have.lengthOf(1);
    expect(family?.deflated).to.have.lengthOf(1);
    // At least what is kept of a line in its table and of its stream.
    expect(before - pair.kernel.arena.used).to.be.above(LINES * 80);
    pair.close();
  });

  it('blocks that find no memory to become one share no line', () => {
    const kernel = new Kernel({ maxPages: 64 });
    const text = new ExpositionText(kernel);
    const before = kernel.arena.used;
    const put = (owner: number, long: number) => {
      text.put(
        facts('shop'),
        0,
        { owner, sub: 0 },
        fixedLine(`o="${owner}",l="${'x'.repeat(long)}"`, 1),
      );
    };
    const blocks = () => text.family('shop')?.blocks ?? [];
    // One block is full by its text, and has room for 64 lines; the other has many short ones.
    let lines = 0;
    while (blocks().length < 2) put(lines++, 4500);
    for (let i = 0; i < 100; i++) put(1000 + i, 10);
    text.remove('shop', { owner: lines - 1, sub: 0 });
    const [count = 0, others = 0] = blocks().map((block) => block.count);
    expect(others).to.equal(100);
    expect(count).to.be.below(64);
    const taken: number[] = [];
    const TABLE = 128 * 47;
    expect(() => {
      for (;;) taken.push(kernel.arena.take(TABLE));
    }).to.throw('needs more than');
    let gone = 0;
    expect(() => {
      for (; gone < count; gone++) text.remove('shop', { owner: gone, sub: 0 });
    }).to.throw('needs more than');
    const counts = blocks().map((block) => block.count);
    expect(counts).to.deep.equal([count - gone - 1, others]);
    // Each text has as many holders as lines: it is released once by each.
    const { texts, u32 } = kernel;
    const release = texts.release.bind(texts);
    texts.release = (at) => {
      if (at !== 0) expect(u32[at >>> 2], 'holders').to.be.within(1, 1000);
      release(at);
    };
    finished(text.closing());
    for (const at of taken) kernel.arena.give(at, TABLE);
    expect(kernel.arena.used).to.equal(before);
  });

  it('a further block that finds no memory for its lines leaves nothing behind', () => {
    const kernel = new Kernel({ maxPages: 32 });
    const { arena } = kernel;
    const before = arena.used;
    for (let round = 0; round < 3; round++) {
      const text = new ExpositionText(kernel);
      const put = (owner: number) => {
        text.put(facts('shop'), 0, { owner, sub: 0 }, fixedLine(`o="${owner}"`, 1));
      };
      for (let owner = 0; owner < MAX_LINES; owner++) put(owner);
      const taken: number[] = [];
      const TABLE = MAX_LINES * 47;
      expect(() => {
        for (;;) taken.push(arena.take(TABLE));
      }).to.throw('needs more than');
      expect(() => {
        put(MAX_LINES);
      }).to.throw('needs more than');
      finished(text.closing());
      for (const at of taken) arena.give(at, TABLE);
      expect(arena.used).to.equal(before);
    }
  });

  it('a block has a quarter of a megabyte of names and labels at most, and one line more', () => {
    const long = (owner: number) => `{owner="${owner}",long="${'abcdefghij'.repeat(owner % 400)}"}`;
    const pair = new TextPair([long]);
    const order = Array.from({ length: 1000 }, (_, i) => (i * 389) % 1000);
    const blocks = () => pair.render(false, FORMS.both).families[0]?.pieces ?? [];
    for (const owner of order) pair.put(0, owner, 0, owner % VALUES);
    expect(blocks()).to.have.lengthOf.within(8, 16);
    for (const { length } of blocks()) expect(length).to.be.at.most(262_144 + 1000 * 30);
    for (const owner of order.slice(0, 900)) pair.remove(0, owner, 0);
    expect(blocks()).to.have.lengthOf.within(1, 5);
    for (const owner of order.slice(0, 900)) pair.put(0, owner, 0, owner % VALUES);
    expect(blocks()).to.have.lengthOf.within(8, 16);
    pair.close();
  });

  it('a block is full where the labels of its lines become longer, too', () => {
    const labels = [(owner: number) => `{owner="${owner}"}`];
    const pair = new TextPair(labels);
    for (let owner = 0; owner < 1000; owner++) pair.put(0, owner, 0, owner % VALUES);
    expect(pair.render().families[0]?.pieces).to.have.lengthOf(1);
    labels[0] = (owner) => `{owner="${owner}",long="${'abcdefghij'.repeat(100)}"}`;
    for (let owner = 0; owner < 1000; owner++) pair.put(0, owner, 0, owner % VALUES);
    const { pieces = [] } = pair.render(false, FORMS.both).families[0] ?? {};
    expect(pieces).to.have.lengthOf.within(4, 8);
    for (const { length } of pieces) expect(length).to.be.at.most(262_144 + 1000 * 30);
    pair.close();
  });

  it('a line may be longer than a block should be', () => {
    const pair = new TextPair([(owner) => `{owner="${owner}",long="${'x'.repeat(600_000)}"}`]);
    for (const owner of [3, 1, 2, 0, 4]) pair.put(0, owner, 0, owner);
    expect(pair.render(false, FORMS.both).families[0]?.pieces.length).to.be.within(2, 5);
    for (const owner of [1, 4, 0]) pair.remove(0, owner, 0);
    pair.render(false, FORMS.both);
    pair.close();
  });

  it('a block that finds no memory to grow gives back what it has, and no more', () => {
    const kernel = new Kernel({ maxPages: 20 });
    const cells = new Cells(kernel, 1);
    const { arena } = kernel;
    const before = arena.used;
    const text = new ExpositionText(kernel);
    const put = (owner: number) => {
      const line = cellLine(`o="${owner}"`, cells.of(0), OP.f64);
      text.put(facts('shop'), 0, { owner, sub: 0 }, line);
    };
    for (let owner = 0; owner < 512; owner++) put(owner);
    const taken: number[] = [];
    const takeAll = () => {
      for (;;) taken.push(arena.take(4096));
    };
    expect(takeAll).to.throw('needs more than');
    arena.give(taken.pop() ?? 0, 4096);
    expect(() => {
      for (let owner = 512; owner < 2048; owner++) put(owner);
    }).to.throw('needs more than');
    finished(text.closing());
    for (const at of taken) arena.give(at, 4096);
    expect(arena.used).to.equal(before);
  });

  it('nothing is read behind the memory, where what is kept of the lines of a block lies at its end', () => {
    const PAGES = 16;
    const END = PAGES * 65_536 - OVERRUN;
    /** Of three lines, for which there is room for four. */
    const RECORDS = 4 * 36 + 12;
    const kernel = new Kernel({ maxPages: PAGES });
    const { arena } = kernel;
    const cells = new Cells(kernel, 2);
    const rendered = (cell: number): ExpositionText => {
      const text = new ExpositionText(kernel, undefined, ALWAYS);
      for (const owner of [0, 1, 2]) {
        const line = cellLine(`o="${owner}"`, cells.of(cell), OP.f64);
        text.put(facts('shop'), 0, { owner, sub: 0 }, line);
      }
      for (const value of [1, 2]) {
        cells.set(cell, value);
        finished(text.rendering(FORMS.deflated));
      }
      return text;
    };
    // A former text leaves pieces of all sizes that are needed; of the size of the records, none.
    finished(rendered(0).closing());
    const fresh = arena.take(50_000);
    while (arena.take(RECORDS) < fresh);
    const short = [arena.take(16)];
    while ((short.at(-1) ?? 0) + 16 < END - sizeClass(RECORDS)) short.push(arena.take(16));
    // Of names and labels.
    for (const at of short.slice(0, 10)) arena.give(at, 16);
    const text = rendered(1);
    expect(() => arena.take(RECORDS), 'the records got the last bytes').to.throw('needs more than');
    finished(text.closing());
  });

  it('memory of parts of a stream is given back when most of their lines are gone', () => {
    const pair = new TextPair();
    for (let owner = 0; owner < 1000; owner++) pair.put(0, owner, 0, owner % VALUES);
    const [family] = pair.render(false, FORMS.deflated).families;
    const bytes = family?.deflated?.[0]?.data.length ?? 0;
    for (let owner = 1; owner < 1000; owner++) pair.remove(0, owner, 0);
    const before = pair.kernel.arena.used;
    pair.render(false, FORMS.deflated);
    expect(before - pair.kernel.arena.used).to.be.greaterThan(bytes / 2);
    pair.close();
  });

  it('lines that move to another block are work, as lines that are put and removed are', () => {
    const effort = new Effort();
    const text = new ExpositionText(new Kernel(), effort);
    const LINES = 4 * MAX_LINES;
    /** The most work of one line, and that of all. */
    const done = (owners: number[], work: (owner: number) => void) => {
      const steps = owners.map((owner) => {
        const before = effort.steps;
        work(owner);
        return effort.steps - before;
      });
      return { most: Math.max(...steps), all: steps.reduce((sum, each) => sum + each, 0) };
    };
    const put = (owner: number) => {
      text.put(facts('x'), 0, { owner, sub: 0 }, fixedLine(`o="${owner}"`, 1));
    };
    const owners = Array.from({ length: LINES }, (_, i) => i);
    const even = owners.filter((owner) => owner % 2 === 0);
    const odd = owners.filter((owner) => owner % 2 === 1);
    const inOrder = done(even, put);
    expect(inOrder.most).to.be.below(2);
    // Each block is split in half, and fills up again.
    const between = done(odd, put);
    expect(between.most).to.be.within(MAX_LINES / 4, MAX_LINES);
    expect(between.all - inOrder.all).to.be.at.least(2 * (MAX_LINES / 4));
    const most = owners.filter((owner) => owner % 8 !== 0).toReversed();
    const gone = done(most, (owner) => {
      text.remove('x', { owner, sub: 0 });
    });
    expect(gone.most).to.be.within(MAX_LINES / 16, MAX_LINES);
  });

  it('blocks of a long family where nothing changed lie where they did', () => {
    const pair = new TextPair();
    for (let owner = 0; owner < 6000; owner++) pair.put(0, owner, 0, owner < 4000 ? 1 : 2);
    const spans = () => {
      const [family] = pair.render(true).families;
      return family?.headed?.spans.filter((_, i) => i % 2 === 0) ?? [];
    };
    const first = spans();
    pair.set(2, 7);
    const second = spans();
    expect(second.map((at, i) => at === first[i])).to.deep.equal([true, true, false, false]);
    expect(spans()).to.deep.equal(second);
    pair.close();
  });

  it('families of a render that was not ended are shown by the next', () => {
    const pair = new TextPair();
    for (let family = 0; family < 3; family++) pair.put(family, 1, 0, family);
    const before = pair.render().families;
    const { arena } = pair.kernel;
    const take = arena.take.bind(arena);
    for (let index = 0; index < 3; index++) pair.set(index, 123);
    const held = finished(pair.text.rendering(FORMS.text)).hold();
    for (let index = 0; index < 3; index++) pair.set(index, 4567);
    arena.take = () => {
      throw new Error('no memory');
    };
    expect(() => finished(pair.text.rendering(FORMS.text))).to.throw('no memory');
    arena.take = take;
    held();
    expect(pair.render().families).not.to.deep.equal(before);
    pair.close();
  });

  it('families whose chunk became twice as large as it should be are divided by the next render', () => {
    const pair = new TextPair([(owner) => `{o="${owner}",long="${'x'.repeat(90)}"}`], HUNDREDS);
    const put = (from: number, to: number) => {
      for (let family = 0; family < 8; family++)
        for (let owner = from; owner < to; owner++) pair.put(family, owner, 0, 1);
    };
    const pieces = () => piecesSent(pair.render());
    // 96 KB; 200 KB; 320 KB, with no block more each time.
    put(0, 100);
    expect(pieces()).to.equal(1);
    put(100, 200);
    expect([pieces(), pieces()]).to.deep.equal([1, 1]);
    put(200, 330);
    expect([pieces(), pieces()]).to.deep.equal([1, 3]);
    pair.close();
  });

  it('a family that comes or goes has only the text beside it written anew', () => {
    const all = Array.from(
      { length: 199 },
      (_, i) => [`shop_${String(i).padStart(3, '0')}`, 0] as const,
    );
    const pair = new TextPair([(owner) => `{o="${owner}",long="${'x'.repeat(4000)}"}`], all);
    const put = (family: number) => {
      pair.put(family, 1, 0, 1);
    };
    for (let family = 0; family < all.length; family += 2) put(family);
    let last: readonly Uint8Array[] = [];
    const others = () => {
      const { page = [], bytes } = pair.render();
      const before = new Set(last);
      last = page;
      expect(page.length, 'pieces').to.be.at.most(2 * Math.ceil(bytes / 131_072) + 1);
      return page.filter((piece) => !before.has(piece)).length;
    };
    expect(others()).to.be.within(3, 5);
    const inAnyOrder = Array.from({ length: 99 }, (_, i) => 2 * ((i * 41) % 99) + 1);
    for (const family of inAnyOrder) {
      put(family);
      expect(others(), `${family} came`).to.be.within(1, 4);
    }
    for (const family of inAnyOrder) {
      pair.remove(family, 1, 0);
      expect(others(), `${family} went`).to.be.at.most(4);
    }
    pair.close();
  });

  it('a family begins when its first line comes and ends when its last goes', () => {
    const pair = new TextPair();
    const names = () => pair.render().families.map(({ facts }) => facts.name);
    expect(names()).to.deep.equal([]);
    pair.put(0, 1, 0, 1);
    pair.put(2, 1, 0, 1);
    pair.put(1, 1, 0, 1);
    expect(names()).to.deep.equal(['shop_z', 'shop_a', 'shop_b']);
    pair.remove(1, 1, 0);
    pair.remove(1, 1, 0);
    expect(names()).to.deep.equal(['shop_z', 'shop_b']);
    expect(pair.text.family('shop_a')).to.equal(undefined);
    expect(pair.text.family('shop_b')?.facts.help).to.equal('About shop_b.');
    pair.close();
  });

  it('the bits of a NaN and the sign of a zero are changes too', () => {
    const pair = new TextPair();
    pair.put(0, 1, 0, 0);
    pair.render();
    pair.values.setBits(0, bitsOf(-0, 'f64'));
    expect(textOf(pair.render())).to.match(/ -0\n$/);
    pair.close();
  });
});
