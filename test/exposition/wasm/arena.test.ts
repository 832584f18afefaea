// Arena: the allocator of the kernel's memory.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { Arena, sizeClass } from '#app/exposition/wasm/memory.js';

const PAGE = 65_536;
const arenaOf = (pages: number) =>
  new Arena(1024, pages * PAGE, (bytes) => Math.ceil(bytes / PAGE) * PAGE);

const bytes = fc.oneof(fc.nat(200), fc.nat(20_000), fc.nat(3_000_000));
/** Either allocates this number of bytes or frees one of the allocated buffers. */
const step = fc.oneof(fc.record({ take: bytes }), fc.record({ give: fc.nat() }));

describe('the kernel arena', () => {
  it('rounds each size up to a multiple of 16, and adds at most a quarter to a size above 64 bytes', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (size) => {
        const rounded = sizeClass(size);
        expect(rounded % 16).to.equal(0);
        expect(rounded).to.be.at.least(size);
        expect(rounded).to.be.at.most(Math.max(size * 1.25, size + 16));
        expect(sizeClass(rounded)).to.equal(rounded);
      }),
    ));

  it('allocates disjoint buffers, aligned to 16 bytes, and counts their bytes', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const arena = arenaOf(1);
        const out: { at: number; size: number }[] = [];
        for (const each of steps) {
          if ('take' in each) {
            const buffer = { at: arena.allocate(each.take), size: each.take };
            expect(buffer.at % 16).to.equal(0);
            expect(buffer.at).to.be.at.least(1024);
            for (const { at, size } of out)
              expect(buffer.at + buffer.size <= at || buffer.at >= at + size).to.equal(true);
            out.push(buffer);
          } else {
            const [buffer] = out.splice(each.give % Math.max(1, out.length), 1);
            if (buffer !== undefined) arena.free(buffer.at, buffer.size);
          }
          const used = out.reduce((sum, { size }) => sum + sizeClass(size), 0);
          expect(arena.used).to.equal(used);
        }
      }),
    ));

  it('reuses freed memory before it takes new memory', () =>
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 40 }), (sizes) => {
        const arena = arenaOf(1);
        const first = sizes.map((size) => arena.allocate(size));
        sizes.forEach((size, i) => arena.free(first[i] ?? 0, size));
        const second = sizes.map((size) => arena.allocate(size));
        expect(second.toSorted()).to.deep.equal(first.toSorted());
      }),
    ));

  it('grows by exactly the missing size for large allocations', () => {
    const asked: number[] = [];
    const arena = new Arena(0, 131_072, (missing) => asked.push(missing) && 1_000_000);
    arena.allocate(131_072);
    arena.allocate(131_072);
    arena.allocate(655_360);
    arena.allocate(655_360);
    expect(asked).to.deep.equal([131_072, 441_792]);
  });

  it('places small allocations of one size next to each other, between those of other sizes', () => {
    const arena = arenaOf(1);
    const labels: number[] = [];
    for (let i = 0; i < 100; i++) {
      labels.push(arena.allocate(112));
      arena.allocate(8192);
    }
    expect(labels).to.deep.equal(labels.map((_, i) => (labels[0] ?? 0) + i * 112));
  });
});

describe('growing kernel memory', () => {
  it('changes neither the place nor the bytes of earlier buffers', () => {
    const kernel = new Kernel();
    const at = kernel.arena.allocate(4096);
    const before = kernel.view(at, 4096);
    before.fill('early');
    const copy = Buffer.from(before);
    const views = kernel.bytes;
    for (let megabytes = 1; megabytes <= 64; megabytes *= 2) {
      const buffer = kernel.arena.allocate(megabytes * 2 ** 20);
      kernel.bytes.fill(megabytes, buffer, buffer + megabytes * 2 ** 20);
      expect(before.equals(copy)).to.equal(true);
    }
    expect(kernel.bytes).to.not.equal(views);
    kernel.view(at, 4).write('late');
    expect(before.toString('latin1', 0, 9)).to.equal('lateyearl');
  });

  it('fails beyond 4 GiB, and still allocates smaller buffers afterwards', () => {
    const kernel = new Kernel();
    expect(() => kernel.arena.allocate(2 ** 32)).to.throw('needs more than 4096 MiB of memory');
    expect(kernel.arena.used).to.equal(0);
    expect(kernel.arena.allocate(64)).to.be.greaterThan(0);
  });
});
