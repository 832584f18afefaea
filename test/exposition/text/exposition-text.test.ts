// Tests ExpositionText against a naive renderer.
import { expect } from 'chai';
import fc from 'fast-check';
import { Budget } from '#app/budget.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { MAX_LINES } from '#app/exposition/wasm/layout.js';
import { LINE_FORMS } from '#app/model.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import { bitsOf } from '../../support/fake-source.js';
import { runToEnd } from '#app/run-to-end.js';
import { fixedLine } from '../../support/lines.js';
import { linesOf } from '../../support/snapshot-of.js';
import {
  FAMILIES,
  FORMS,
  HUNDREDS,
  LABELS,
  TextPair,
  VALUES,
  metadata,
} from '../../support/text-pair.js';

const family = fc.nat(HUNDREDS.length - 1);
const value = fc.option(fc.nat(VALUES - 1));
const number = fc.oneof(fc.double(), fc.constantFrom(-1.2345678901234567e-6, 0, 1e300));
const key = { family, nodeId: fc.nat(40), seriesIndex: fc.nat(2) };
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

/** Returns the node ids of a run: ascending, descending, or scattered. */
const nodeIdsOf = ({ from, count, by }: { from: number; count: number; by: number }) =>
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
      pair.put(each.family, each.nodeId, each.seriesIndex, each.value ?? undefined);
      return;
    case 'remove':
      pair.remove(each.family, each.nodeId, each.seriesIndex);
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
      for (const nodeId of nodeIdsOf(each))
        pair.put(each.family, nodeId, 0, each.value === null ? undefined : nodeId % VALUES);
      return;
    case 'removeMany':
      for (const nodeId of nodeIdsOf(each)) pair.remove(each.family, nodeId, 0);
      return;
    case 'putFamilies':
      for (let i = 0; i < each.count; i++)
        for (let nodeId = 0; nodeId < each.lines; nodeId++)
          pair.put(each.first + i, nodeId, 0, (nodeId * 7 + i) % VALUES);
      return;
    case 'removeFamilies':
      for (let i = 0; i < each.count; i++)
        for (let nodeId = 0; nodeId < each.lines; nodeId++) pair.remove(each.first + i, nodeId, 0);
  }
}

function runSteps(steps: readonly Step[], families = FAMILIES): void {
  const pair = new TextPair(LABELS, families);
  for (const each of steps) {
    perform(pair, each);
    pair.checkLargestFamilies();
  }
  pair.render(false, FORMS.both);
  pair.close();
}

describe('the exposition text', () => {
  it('equals the output of a naive renderer after random changes', () =>
    fc.assert(
      fc.property(fc.array(smallStep, { maxLength: 80 }), (steps) => {
        runSteps(steps);
      }),
      { numRuns: 60 },
    ));

  it('has messages of protobuf with the labels and values of a naive renderer after random changes', () =>
    fc.assert(
      fc.property(fc.array(smallStep, { maxLength: 80 }), (steps) => {
        runSteps(
          steps.map((each) => {
            if (!('forms' in each)) return each;
            const isPlain = each.forms === FORMS.text || each.forms === FORMS.both;
            return { ...each, forms: isPlain ? FORMS.protobuf : FORMS.deflatedProtobuf };
          }),
        );
      }),
      { numRuns: 100 },
    ));

  it('equals the output of a naive renderer while thousands of lines split and merge blocks', () =>
    fc.assert(
      fc.property(fc.array(largeStep, { minLength: 8, maxLength: 25 }), (steps) => {
        runSteps([{ kind: 'putMany', family: 0, from: 0, count: 5003, by: 7, value: 1 }, ...steps]);
      }),
      { numRuns: 4 },
    ));

  it('equals the output of a naive renderer while hundreds of families share chunks', () =>
    fc.assert(
      fc.property(fc.array(familyStep, { minLength: 5, maxLength: 20 }), (steps) => {
        runSteps([{ kind: 'putFamilies', first: 0, count: 300, lines: 2 }, ...steps], HUNDREDS);
      }),
      { numRuns: 5 },
    ));

  it('leaks no memory if the allocation of a block fails', () => {
    const kernel = new Kernel(128);
    const { arena } = kernel;
    const before = arena.used;
    for (let round = 0; round < 3; round++) {
      const text = new ExpositionText(kernel);
      const put = (nodeId: number) => {
        text.put(metadata('shop'), 0, { nodeId, seriesIndex: 0 }, fixedLine(`o="${nodeId}"`, 1));
      };
      for (let nodeId = 0; nodeId < MAX_LINES; nodeId++) put(nodeId);
      const taken: number[] = [];
      const TABLE = MAX_LINES * 47;
      expect(() => {
        for (;;) taken.push(arena.allocate(TABLE));
      }).to.throw('needs more than');
      expect(() => {
        put(MAX_LINES);
      }).to.throw('needs more than');
      runToEnd(text.closing());
      for (const at of taken) arena.free(at, TABLE);
      expect(arena.used).to.equal(before);
    }
  });

  it('writes a form until sixteen demands needed only other forms', () => {
    const text = new ExpositionText(new Kernel(), new Budget(), () => true);
    text.put(metadata('shop'), 0, { nodeId: 1, seriesIndex: 0 }, fixedLine('o="1"', 1));
    const forms = () => {
      const snapshot = runToEnd(text.rendering());
      return LINE_FORMS.filter((form) => snapshot.lines(form) !== undefined);
    };
    expect(forms(), 'without a demand').to.deep.equal(['text']);
    text.demand(['text']);
    expect(text.lacksForm).to.equal(false);
    text.demand(['deflated']);
    expect(text.lacksForm).to.equal(true);
    expect(forms()).to.deep.equal(['text', 'deflated']);
    expect(text.lacksForm).to.equal(false);
    for (let i = 0; i < 14; i++) text.demand(['deflated']);
    expect(forms()).to.deep.equal(['text', 'deflated']);
    text.demand(['deflated']);
    text.demand([]);
    expect(forms()).to.deep.equal(['deflated']);
    text.demand(['text']);
    expect(text.lacksForm).to.equal(true);
    expect(forms()).to.deep.equal(['text', 'deflated']);
    for (let i = 0; i < 16; i++) text.demand(['protobuf']);
    expect(forms()).to.deep.equal(['protobuf']);
    runToEnd(text.closing());
  });

  for (const [form, other] of [
    ['deflated', 'text'],
    ['text', 'deflated'],
    ['protobuf', 'text'],
    ['deflated-protobuf', 'text'],
  ] as const)
    it(`frees the memory of the form ${form} when a render no longer writes it`, () => {
      const pair = new TextPair();
      for (let nodeId = 0; nodeId < 3000; nodeId++) pair.put(0, nodeId, 0, nodeId % VALUES);
      pair.render(false, [other]);
      const { used } = pair.kernel.arena;
      pair.render(false, [form, other]);
      expect(pair.kernel.arena.used).to.be.above(used);
      pair.render(false, [other]);
      expect(pair.kernel.arena.used).to.equal(used);
      pair.set(0, 5);
      pair.render(false, [form, other]);
      pair.close();
    });

  it('can have a line longer than a block', () => {
    const pair = new TextPair([(nodeId) => `{nodeId="${nodeId}",long="${'x'.repeat(600_000)}"}`]);
    for (const nodeId of [3, 1, 2, 0, 4]) pair.put(0, nodeId, 0, nodeId);
    expect(pair.render(false, FORMS.both).lines('text')?.length).to.be.within(2, 5);
    for (const nodeId of [1, 4, 0]) pair.remove(0, nodeId, 0);
    pair.render(false, FORMS.both);
    pair.close();
  });

  it('includes the changes of a failed render in the next render', () => {
    const pair = new TextPair();
    for (let family = 0; family < 3; family++) pair.put(family, 1, 0, family);
    const before = linesOf(pair.render());
    const { arena } = pair.kernel;
    const allocate = arena.allocate.bind(arena);
    for (let index = 0; index < 3; index++) pair.set(index, 123);
    const held = runToEnd(pair.text.rendering(FORMS.text)).hold();
    for (let index = 0; index < 3; index++) pair.set(index, 4567);
    arena.allocate = () => {
      throw new Error('no memory');
    };
    expect(() => runToEnd(pair.text.rendering(FORMS.text))).to.throw('no memory');
    arena.allocate = allocate;
    held();
    expect(linesOf(pair.render())).not.to.equal(before);
    pair.close();
  });

  it('has a family from the insertion of its first line until the removal of its last line', () => {
    const pair = new TextPair();
    const names = () => pair.render().metadata.map(({ name }) => name);
    expect(names()).to.deep.equal([]);
    pair.put(0, 1, 0, 1);
    pair.put(2, 1, 0, 1);
    pair.put(1, 1, 0, 1);
    expect(names()).to.deep.equal(['shop_z', 'shop_a', 'shop_b']);
    pair.remove(1, 1, 0);
    pair.remove(1, 1, 0);
    expect(names()).to.deep.equal(['shop_z', 'shop_b']);
    expect(pair.text.family('shop_a')).to.equal(undefined);
    expect(pair.text.family('shop_b')?.metadata.help).to.equal('About shop_b.');
    pair.close();
  });

  it('is rendered again if the sign of a zero changes', () => {
    const pair = new TextPair();
    pair.put(0, 1, 0, 0);
    pair.render();
    pair.values.setBits(0, bitsOf(-0, 'f64'));
    expect(linesOf(pair.render())).to.match(/ -0\n$/);
    pair.close();
  });

  it('has a small deflate stream although all values were 0 at the first render', () => {
    const deflatedBytes = (hasZeros: boolean): number => {
      const pair = new TextPair();
      for (let nodeId = 0; nodeId < 3000; nodeId++) pair.put(0, nodeId, 0, nodeId % VALUES);
      const render = () => runToEnd(pair.text.rendering(FORMS.deflated));
      if (hasZeros) render();
      for (let i = 0; i < VALUES; i++) pair.set(i, (i + 1) / 7);
      // The first render with the new values detects the growth. The second one chooses a new code.
      render();
      const blocks = render().lines('deflated') ?? [];
      const bytes = blocks.reduce((sum, { data }) => sum + data.length, 0);
      pair.close();
      return bytes;
    };
    expect(deflatedBytes(true)).to.be.within(1, deflatedBytes(false) * 1.01);
  });
});
