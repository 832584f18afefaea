// Tests the allocators of slots and frames, and a publisher that runs out of slots or frame space.
import { expect } from 'chai';
import fc from 'fast-check';
import { statSync } from 'node:fs';
import { Fault } from '#app/errors.js';
import type { SlotRef } from '#app/model.js';
import { FrameAllocator, SlotAllocator } from '#app/native/publisher/allocators.js';
import type { PublishedValue } from '#app/native/publisher/published-values.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { PublisherFile } from '#app/native/publisher/publisher-file.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { computeLayout } from '#app/native/publisher/segment-layout.js';
import { eventually } from '../../support/eventually.js';
import { TINY, freshSegments } from '../../support/segments.js';

describe('A slot allocator', () => {
  it('allocates new slots in order until its capacity is used', () => {
    const slots = new SlotAllocator(2);
    expect([slots.allocate(), slots.allocate(), slots.allocate()]).to.deep.equal([
      { slot: 0, incarnation: 1 },
      { slot: 1, incarnation: 1 },
      undefined,
    ]);
  });

  it('reuses the slot that has been free longest, with its next incarnation', () => {
    const slots = new SlotAllocator(3);
    const refs = [slots.allocate(), slots.allocate(), slots.allocate()].filter(
      (ref) => ref !== undefined,
    );
    expect(
      [2, 0, 1].map((slot) => slots.free(refs[slot] ?? { slot, incarnation: 0 })),
    ).to.deep.equal([2, 2, 2]);
    expect(
      [slots.allocate(), slots.allocate(), slots.allocate()].map((ref) => ref?.slot),
    ).to.deep.equal([...[2, 0, 1]]);
  });

  it('reuses free slots before it takes new slots, once enough slots are free', () => {
    const slots = new SlotAllocator(1000);
    const first = Array.from({ length: 65 }, () => slots.allocate());
    for (const ref of first) if (ref !== undefined) slots.free(ref);
    expect(slots.allocate()).to.deep.equal({ slot: 0, incarnation: 2 });
    expect(slots.allocate(), '64 rest, so that none of them is needed').to.deep.equal({
      ...{ slot: 65, incarnation: 1 },
    });
  });

  it('wraps incarnations from 2^31 - 1 to 1', () => {
    const slots = new SlotAllocator(1);
    slots.allocate();
    expect(slots.free({ slot: 0, incarnation: 0x7ffffffe })).to.equal(0x7fffffff);
    expect(slots.free({ slot: 0, incarnation: 0x7fffffff })).to.equal(1);
  });

  it('allocates only free slots, each time with the next incarnation, until all slots are in use', () => {
    const life = fc.array(fc.nat(100), { minLength: 1, maxLength: 3000, size: 'max' });
    const property = fc.property(fc.integer({ min: 1, max: 150 }), life, (capacity, picks) => {
      const slots = new SlotAllocator(capacity);
      const taken: SlotRef[] = [];
      const incarnations = new Map<number, number>();
      for (const pick of picks)
        if (pick < 55) {
          const ref = slots.allocate();
          expect(ref === undefined).to.equal(taken.length === capacity);
          if (ref === undefined) continue;
          expect(ref.slot).to.be.within(0, capacity - 1);
          expect(taken.some(({ slot }) => slot === ref.slot)).to.equal(false);
          expect(ref.incarnation).to.equal((incarnations.get(ref.slot) ?? 0) + 1);
          incarnations.set(ref.slot, ref.incarnation);
          taken.push(ref);
        } else {
          const [ref] = taken.splice(pick % Math.max(taken.length, 1), 1);
          if (ref !== undefined) slots.free(ref);
        }
    });
    fc.assert(property, { numRuns: 20 });
  });
});

// FrameAllocator reuses freed space for frames of a similar size.
describe('A frame allocator', () => {
  const SIZES = [
    [1, 3],
    [3, 3],
    [4, 4],
    [5, 6],
    [6, 6],
    [7, 8],
    [8, 8],
    [9, 12],
    [12, 12],
    [13, 16],
    [17, 24],
    [25, 32],
    [8194, 12_288],
  ] as const;
  for (const [words, size] of SIZES)
    it(`reserves ${size} units for a frame that needs ${words}`, () => {
      const frames = new FrameAllocator(24_576);
      expect([frames.allocate(words), frames.top, frames.allocate(words)]).to.deep.equal([
        0,
        size,
        size,
      ]);
    });

  it('allocates up to the last unit of its capacity', () => {
    expect(new FrameAllocator(11).allocate(9)).to.equal(undefined);
    expect(new FrameAllocator(12).allocate(9)).to.equal(0);
  });

  it('reuses freed space for a frame that fits in it, before it takes new space', () => {
    const frames = new FrameAllocator(24);
    expect([frames.allocate(12), frames.allocate(12), frames.allocate(12)]).to.deep.equal([
      0,
      12,
      undefined,
    ]);
    frames.free(12, 12);
    expect([frames.allocate(10), frames.allocate(10)]).to.deep.equal([12, undefined]);
  });

  it('never allocates overlapping frames, or frames beyond its capacity', () => {
    const step = fc.record({ words: fc.integer({ min: 3, max: 40 }), give: fc.boolean() });
    const life = fc.array(step, { maxLength: 300, size: 'max' });
    const property = fc.property(life, (steps) => {
      const capacity = 400;
      const frames = new FrameAllocator(capacity);
      const taken: { at: number; words: number }[] = [];
      for (const { words, give } of steps) {
        const [back] = give ? taken.splice(words % Math.max(taken.length, 1), 1) : [];
        if (back !== undefined) frames.free(back.at, back.words);
        const at = give ? undefined : frames.allocate(words);
        if (at === undefined) continue;
        expect(at + words).to.be.at.most(Math.min(frames.top, capacity));
        for (const other of taken)
          expect(at >= other.at + other.words || at + words <= other.at).to.equal(true);
        taken.push({ at, words });
      }
    });
    fc.assert(property);
  });
});

// Unused capacity takes no memory. Beyond the capacity, the publisher counts dropped items and continues.
type Add = (
  publisher: Publisher,
  root: PublishedObject,
  index: number,
) => PublishedObject | PublishedValue;

const addObject: Add = (publisher, root, index) =>
  publisher.addObject(root, `${root.name}.o${index}`, 'C');
const addScalar: Add = (publisher, root, index) => publisher.addVariable(root, `v${index}`, 'f64');
const addText: Add = (publisher, root, index) => publisher.addVariable(root, `t${index}`, 'string');
const addWithLongHelp: Add = (publisher, root, index) =>
  publisher.addVariable(root, `w${index}`, 'u64', { help: `${index} `.repeat(60) });

const EXHAUSTED = [
  ['records', { records: 16 }, addObject],
  ['strings', { stringBytes: 1024 }, addWithLongHelp],
  ['slots', { slots: 8 }, addScalar],
  ['frames', { frameBytes: 512 }, addText],
] as const;

describe('A publisher with a limited capacity (segment format, section 8)', () => {
  const segments = freshSegments();
  const drops = () => {
    const { drops, publisher } = segments.poller('82').poll();
    expect(publisher.state).to.equal('live');
    return drops.objects + drops.variables;
  };

  for (const [what, capacity, add] of EXHAUSTED)
    it(`counts in the header the items that it drops for lack of ${what}, and reuses the space of removed items`, () => {
      const publisher = segments.publish('82', { capacity: { ...TINY, ...capacity } });
      const root = publisher.addRoot('r', 'C');
      const branch = publisher.addObject(root, 'r.branch', 'C');
      let fitted = 0;
      while (add(publisher, branch, fitted).ref !== undefined) fitted++;
      expect(fitted).to.be.above(3);
      expect(drops()).to.equal(1);
      for (let again = 0; again < 10; again++) add(publisher, branch, again);
      expect(drops()).to.equal(11);

      publisher.removeObject(branch);
      const next = publisher.addObject(root, 'r.branch', 'C');
      for (let index = 0; index < fitted; index++)
        expect(add(publisher, next, index).ref, `${index} of ${fitted}`).not.to.equal(undefined);
      expect(drops()).to.equal(11);
    });

  it('never fills up, however many clients come and go (segment format, section 6)', () => {
    const publisher = segments.publish('82', { capacity: TINY });
    const root = publisher.addRoot('r', 'C');
    for (let round = 0; round < 3000; round++) {
      const client = publisher.addObject(root, `r.client${round}`, 'Client');
      publisher.addVariable(client, 'bytes', 'u64', { help: 'Bytes sent' }).set(round);
      publisher.addVariable(client, 'user', 'string').set(`user${round}`);
      publisher.removeObject(client);
    }
    expect(drops()).to.equal(0);
  });

  it('uses memory only for the occupied part of its capacity', () => {
    const publisher = segments.publisher('82', {
      capacity: { records: 1 << 20, stringBytes: 1 << 26, slots: 1 << 20, frameBytes: 1 << 28 },
    });
    publisher.addVariable(publisher.addRoot('r', 'C'), 'v', 'u64').set(1);
    publisher.place();
    const { size, blocks } = statSync(segments.path('82'));
    expect(size).to.be.above(400_000_000);
    expect(blocks * 512).to.be.below(400_000);
  });

  const BAD = [
    [{ records: 0 }, 'records: found 0, allowed: an integer from 1 to 8388608'],
    [{ slots: 2 ** 24 + 1 }, 'slots: found 16777217, allowed: an integer from 1 to 16777216'],
    [{ stringBytes: 1.5 }, 'stringBytes: found 1.5, allowed: an integer from 1 to 134217728'],
    [
      { frameBytes: 2 ** 30 },
      'bytes in total: found 1144000512, allowed: an integer from 1 to 1073741823',
    ],
    [{ frameBytes: Number.NaN }, 'frameBytes: found NaN, allowed: an integer from 1 to 2147483648'],
  ] as const;
  for (const [capacity, message] of BAD)
    it(`fails to start with the message "${message}"`, () => {
      expect(() => segments.publisher('82', { capacity })).to.throw(RangeError, message);
      expect(segments.files()).to.deep.equal([]);
    });
});

describe('A publisher on a full /dev/shm (segment format, section 8)', () => {
  const segments = freshSegments();
  const ROOMY = { records: 1 << 14, stringBytes: 1 << 20, slots: 1 << 14, frameBytes: 1 << 20 };
  const { directories, strings, words, slotValues, frames } = computeLayout(ROOMY);
  const original = Object.getOwnPropertyDescriptor(PublisherFile.prototype, 'reserve') ?? {};
  /** The offsets of the regions for which no more memory is available. */
  let full: readonly number[] = [];
  before(() => {
    const reserve = original.value as PublisherFile['reserve'];
    PublisherFile.prototype.reserve = function (region, end, capacity) {
      return reserve.call(this, region, end, full.includes(region) ? 0 : capacity);
    };
  });
  beforeEach(() => (full = []));
  after(() => void Object.defineProperty(PublisherFile.prototype, 'reserve', original));

  it('creates no segment if there is no memory for the header', () => {
    full = [0];
    expect(() => segments.publisher('82'))
      .to.throw(Fault, '/dev/shm has no room for')
      .with.property('code', 'SEGMENT_FULL');
    expect(segments.files(), 'nothing stays').to.deep.equal([]);
  });

  const FULL = [
    ['records', directories, addObject],
    ['strings', strings, addWithLongHelp],
    ['words', [words], addScalar],
    ['slots', [slotValues], addScalar],
    ['frames', [frames], addText],
  ] as const;
  for (const [what, regions, add] of FULL)
    it(`counts the items that it drops for lack of memory for ${what}, and reuses the space of removed items`, () => {
      const publisher = segments.publish('82', { capacity: ROOMY });
      const root = publisher.addRoot('r', 'C');
      const branch = publisher.addObject(root, 'r.branch', 'C');
      const leaves = Array.from({ length: 3 }, (_, index) => add(publisher, branch, index));
      full = regions;
      let fitted = 3;
      while (add(publisher, branch, fitted).ref !== undefined) fitted++;
      for (let again = 0; again < 5; again++) add(publisher, branch, again);
      const { drops, publisher: verdict } = segments.poller('82').poll();
      expect([drops.objects + drops.variables, verdict.state]).to.deep.equal([6, 'live']);

      for (const leaf of leaves)
        if ('parent' in leaf) publisher.removeObject(leaf);
        else publisher.removeVariable(leaf);
      if (what === 'records' || what === 'strings') full = [];
      for (const { ref } of leaves.map((_, index) => add(publisher, branch, index)))
        expect(ref).not.to.equal(undefined);
    });

  it('uses memory within a second after the memory becomes free, even if no item is removed', async () => {
    const publisher = segments.publish('82', { capacity: ROOMY });
    const root = publisher.addRoot('r', 'C');
    full = directories;
    let count = 0;
    const add = () => addObject(publisher, root, count++).ref !== undefined;
    while (add());
    full = [];
    expect(add(), 'not at once').to.equal(false);
    await eventually('it is tried again', add);
  });
});
