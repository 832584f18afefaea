// Copying values out of a source that changes at any moment.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { Probe } from '#app/exposition/read/probe.js';
import type { ProbeListener } from '#app/exposition/read/probe.js';
import type { Tracked } from '#app/exposition/read/slots.js';
import type { ManagedObject, Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import { finished } from '../../support/finished.js';

/** On three pages, two of which follow each other. */
const SLOTS = [5, 6, 7, 512, 513, 70_000];

/** A probe that notes what it tells, as `synced name`. */
function probeOf(source: FakeSource, kernel = new Kernel()) {
  const told: string[] = [];
  const react: Partial<Record<keyof ProbeListener, (item: Tracked) => void>> = {};
  const listen = (what: keyof ProbeListener) => (item: Tracked) => {
    told.push(`${what} ${item.name}`);
    react[what]?.(item);
  };
  const probe = new Probe(kernel, source, {
    synced: listen('synced'),
    changed: listen('changed'),
    unsynced: listen('unsynced'),
    gone: (item) => react.gone?.(item),
  });
  return {
    kernel,
    probe,
    react,
    /** What has a value already is told of at once. */
    track: (item: Tracked): void => {
      if (probe.track(item)) listen('synced')(item);
    },
    /** What was told since the last read, with what is told after this one. */
    read: (): string[] => {
      finished(probe.reading());
      while (probe.reportUnsynced() || probe.reportSynced());
      return told.splice(0);
    },
    valueOf: (item: ManagedObject | Variable) => probe.bits(item),
  };
}

const shop = (source = new FakeSource()) => ({
  source,
  root: source.addObject('h.1.shop', 'Shop'),
});

describe('the probe', () => {
  it('works beyond 2 GiB', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 7n });
    const kernel = new Kernel();
    kernel.arena.take(2 ** 31);
    const { probe, track, read, valueOf } = probeOf(source, kernel);
    track(sales);
    probe.watch(sales);
    expect(read()).to.deep.equal(['synced sales']);
    expect(valueOf(sales)).to.equal(7n);
    source.set(sales, 8n);
    expect(read()).to.deep.equal(['changed sales']);
  });

  it('tells of a change although another item stops being watched in the same read', () => {
    const { source, root } = shop();
    const first = source.addVariable(root, 'first', { type: 'u64', value: 1n });
    const last = source.addVariable(root, 'last', { type: 'u64', value: 1n });
    const { probe, react, track, read } = probeOf(source);
    for (const variable of [first, last]) {
      track(variable);
      probe.watch(variable);
    }
    read();
    react.unsynced = (item) => probe.unwatch(item);
    source.setSynced(first, false);
    source.set(last, 2n);
    expect(read()).to.deep.equal(['changed last', 'unsynced first']);
    expect(read()).to.deep.equal([]);
  });

  it('keeps the last copy of what the source no longer has', () => {
    const { source, root } = shop();
    const near = source.addVariable(root, 'near', { type: 'u64', value: 1n, slot: 512 + 7 });
    const far = source.addVariable(root, 'far', { type: 'u64', value: 2n, slot: 9 * 512 + 7 });
    const late = source.addVariable(root, 'late', { type: 'u64', slot: 9 * 512 + 8 });
    source.addVariable(root, 'other', { type: 'u64', value: 3n, slot: 512 + 8 });
    const { track, read, valueOf } = probeOf(source);
    for (const variable of [near, far, late]) track(variable);
    expect(read()).to.deep.equal(['synced near', 'synced far']);
    source.end = 9 * 512;
    source.set(near, 4n);
    expect(read()).to.deep.equal([]);
    expect([near, far, late].map(valueOf)).to.deep.equal([4n, 2n, undefined]);
  });

  it('tells again at the next read, not at this one', () => {
    const { source, root } = shop();
    const text = source.addVariable(root, 'text', { type: 'string', value: 'a' });
    const { probe, react, track, read } = probeOf(source);
    react.synced = (item) => {
      probe.watch(item);
      probe.again(item);
    };
    source.setSynced(text, false);
    track(text);
    source.setSynced(text, true);
    expect(read()).to.deep.equal(['synced text']);
    expect(read()).to.deep.equal(['changed text']);
    expect(read()).to.deep.equal([]);
    probe.again(text);
    probe.unwatch(text);
    expect(read()).to.deep.equal([]);
  });

  it('of very many that it is to tell again, tells those first that have waited longest', () => {
    const { source, root } = shop();
    const texts = Array.from({ length: 1500 }, (_, i) =>
      source.addVariable(root, `t${i}`, { type: 'string', value: 'a' }),
    );
    const { probe, track, read } = probeOf(source);
    for (const text of texts) {
      track(text);
      probe.watch(text);
    }
    read();
    for (const text of texts) probe.again(text);
    const first = read();
    expect(first).to.have.lengthOf(1024);
    expect(first.at(-1)).to.equal('changed t1023');
    // They wait behind those that have not had their turn.
    for (const text of texts.slice(0, 1024)) probe.again(text);
    const second = read();
    expect(second).to.have.lengthOf(1024);
    expect(second).to.include('changed t1499').and.not.include('changed t600');
    expect(read()).to.have.lengthOf(476);
  });

  it('tells of an item once it is synced, and of one that was so before it was tracked', () => {
    const { source, root } = shop();
    const early = source.addVariable(root, 'early', { type: 'u64', value: 1n });
    const late = source.addVariable(root, 'late', { type: 'u64' });
    const { probe, track, read } = probeOf(source);
    track(late);
    expect(read()).to.deep.equal([]);
    track(early);
    expect(probe.isSynced(early)).to.equal(true);
    track(root);
    expect(read()).to.deep.equal(['synced early', 'synced h.1.shop']);
    source.setSynced(late, true);
    expect(read()).to.deep.equal(['synced late']);
    expect(read()).to.deep.equal([]);
    expect([early, late, root].map((item) => probe.isSynced(item))).to.deep.equal([
      true,
      true,
      true,
    ]);
  });

  it('tells of an item whose slot is of another incarnation, once the word says so', () => {
    const { source, root } = shop();
    const [sales, late] = [
      source.addVariable(root, 'sales', { type: 'u64', value: 1n }),
      source.addVariable(root, 'late', { type: 'u64' }),
    ];
    const { react, track, read } = probeOf(source);
    const gone: string[] = [];
    react.gone = (item) => gone.push(item.name);
    for (const variable of [sales, late]) track(variable);
    read();
    expect(gone, 'not yet synced is not gone').to.deep.equal([]);
    for (const { slot, incarnation } of [sales, late])
      source.setSynced({ slot, incarnation: incarnation + 1 }, false);
    expect(read()).to.deep.equal(['unsynced sales']);
    expect(gone).to.deep.equal(['sales', 'late']);
  });

  it('tells when an item has no value any more, and when it has one again', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 1n });
    const { probe, track, read, valueOf } = probeOf(source);
    track(sales);
    read();
    source.setSynced(sales, false);
    expect(read()).to.deep.equal(['unsynced sales']);
    expect(valueOf(sales)).to.equal(undefined);
    source.setSynced(sales, true);
    expect(read()).to.deep.equal(['synced sales']);
    probe.untrack(sales);
    source.setSynced(sales, false);
    expect(read()).to.deep.equal([]);
    expect(probe.isTracked(sales)).to.equal(false);
  });

  it('a slot that was given to another item is no value of the first', () => {
    const { source, root } = shop();
    const former = source.addVariable(root, 'former', { type: 'u64', value: 1n });
    const { probe, track, read, valueOf } = probeOf(source);
    track(former);
    read();
    source.remove(former);
    const next = source.addVariable(root, 'next', { type: 'u64', value: 2n });
    expect(next.slot).to.equal(former.slot);
    expect(read()).to.deep.equal(['unsynced former']);
    expect(probe.trackedAt(next.slot)).to.include({ id: former.id, name: 'former' });
    probe.untrack(former);
    track(next);
    expect(read()).to.deep.equal(['synced next']);
    expect([valueOf(former), valueOf(next)]).to.deep.equal([undefined, 2n]);
  });

  it('an old name is never paired with a new value, whatever happens between the copies', () => {
    const { source, root } = shop();
    const slot = 5;
    let owner = source.addVariable(root, 'v0', { type: 'u64', value: 0n, slot });
    const { probe, track, read, valueOf } = probeOf(source);
    let reused = 0;
    const reuse = () => {
      source.afterCopy = () => undefined;
      reused++;
      source.remove(owner);
      owner = source.addVariable(root, `v${reused}`, { type: 'u64', value: BigInt(reused), slot });
    };
    for (let round = 0; round < 60; round++) {
      const [tracked, index] = [owner, reused];
      track(tracked);
      // The publisher is faster than the reader in one round of three, and in between in another.
      if (round % 3 === 0) source.afterCopy = reuse;
      read();
      expect(valueOf(tracked)).to.equal(round % 3 === 0 ? undefined : BigInt(index));
      expect(probe.isSynced(tracked)).to.equal(round % 3 !== 0);
      if (round % 3 === 1) reuse();
    }
    expect(reused).to.equal(40);
  });

  it('reads the pages where something is tracked, and no others', () => {
    const { source, root } = shop();
    const at = (slot: number) => source.addVariable(root, `v${slot}`, { type: 'u64', slot });
    const { probe, track, read } = probeOf(source);
    const PAGE = 512 * (8 + 4);
    read();
    expect(probe.bytesRead).to.equal(0);
    for (const variable of [0, 511, 20_000].map(at)) track(variable);
    // Words that are new make their pages be copied twice: each when something is tracked there first.
    expect(probe.bytesRead).to.equal(4 * PAGE);
    const pages: [number, number][] = [
      [0, 512],
      [19_968, 512],
    ];
    expect(source.slotReads).to.deep.equal(pages.flatMap((page) => [page, page]));
    read();
    expect(probe.bytesRead).to.equal(6 * PAGE);
    expect(source.slotReads.slice(4)).to.deep.equal(pages);
  });

  it('what is copied as it is tracked counts if its word stayed the same meanwhile', () => {
    const { source, root } = shop();
    const all = Array.from({ length: 4 }, (_, i) =>
      source.addVariable(root, `v${i}`, { type: 'u64', value: 1n }),
    );
    const [still, former, busy, late] = all;
    if (still === undefined || former === undefined || busy === undefined || late === undefined)
      throw new Error('There are four');
    for (const item of [busy, late]) source.setSynced(item, false);
    const { probe, track, read, valueOf } = probeOf(source);
    let copies = 0;
    let next = former;
    source.afterCopy = () => {
      copies++;
      // Between the first copy of the values and that of the words.
      if (copies === 1) {
        source.set(late, 2n);
        source.setSynced(late, true);
        source.remove(former);
        next = source.addVariable(root, 'next', { type: 'u64', value: 3n, slot: former.slot });
      }
      // The same, at the second copy: the value may be older than its word.
      if (copies !== 3) return;
      source.set(busy, 4n);
      source.setSynced(busy, true);
    };
    for (const item of all) track(item);
    expect(copies).to.equal(4);
    expect(all.map((item) => probe.isSynced(item))).to.deep.equal([true, false, false, true]);
    expect([still, late].map(valueOf)).to.deep.equal([1n, 2n]);
    expect(read()).to.deep.equal(['synced v0', 'synced v3', 'synced v2']);
    expect(valueOf(busy)).to.equal(4n);
    probe.untrack(former);
    track(next);
    expect([probe.isSynced(next), valueOf(next)]).to.deep.equal([true, 3n]);
  });

  it('reads no page between those where something is tracked, in whatever order they come', () => {
    const { source, root } = shop();
    for (let slot = 1; slot < 20 * 512; slot += 512)
      source.addVariable(root, `u${slot}`, { type: 'u64', value: 0n, slot });
    fc.assert(
      fc.property(fc.shuffledSubarray(Array.from({ length: 20 }, (_, page) => page)), (pages) => {
        const { kernel, probe, track, read, valueOf } = probeOf(source);
        const variables = [...root.variables].filter((_, page) => pages.includes(page));
        const at = (page: number) => variables.find(({ slot }) => slot === page * 512 + 1);
        for (const page of pages) {
          const variable = at(page);
          if (variable !== undefined) track(variable);
        }
        read();
        for (const [index, variable] of variables.entries()) source.set(variable, BigInt(index));
        const before = source.slotReads.length;
        read();
        const seen = source.slotReads
          .slice(before)
          .flatMap(([first, count]) =>
            Array.from({ length: count / 512 }, (_, page) => first / 512 + page),
          );
        expect(seen.toSorted((a, b) => a - b)).to.deep.equal(pages.toSorted((a, b) => a - b));
        for (const [index, variable] of variables.entries())
          expect(valueOf(variable)).to.equal(BigInt(index));
        probe.close();
        expect(kernel.arena.used).to.equal(0);
      }),
    );
  });

  it('a value that was copied before its variable was synced does not count', () => {
    const { source, root } = shop();
    const { probe, track, read, valueOf } = probeOf(source);
    const late = source.addVariable(root, 'late', { type: 'u64' });
    track(late);
    read();
    // The publisher stores and syncs between the copy of the slots and that of the words.
    source.afterCopy = () => {
      source.afterCopy = () => undefined;
      source.set(late, 7n);
      source.setSynced(late, true);
    };
    read();
    expect(probe.isSynced(late) ? valueOf(late) : 7n).to.equal(7n);
    read();
    expect([probe.isSynced(late), valueOf(late)]).to.deep.equal([true, 7n]);
  });

  it('what moves again while it is copied again waits for the next read', () => {
    const { source, root } = shop();
    const { probe, track, read, valueOf } = probeOf(source);
    const late = source.addVariable(root, 'late', { type: 'u64' });
    track(late);
    read();
    let copies = 0;
    // Synced after the second copy of the slots, before the second copy of the words.
    source.afterCopy = () => {
      copies++;
      if (copies === 1) source.setSynced({ slot: late.slot, incarnation: 9 }, true);
      if (copies !== 3) return;
      source.set(late, 7n);
      source.setSynced(late, true);
    };
    read();
    expect([copies, probe.isSynced(late)]).to.deep.equal([4, false]);
    source.afterCopy = () => undefined;
    read();
    expect([probe.isSynced(late), valueOf(late)]).to.deep.equal([true, 7n]);
  });

  it('knows no time of values that was set while its slot was copied', () => {
    const source = new FakeSource();
    const asOf = { slot: 9, incarnation: 1 };
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    source.setSynced(asOf, false);
    const { probe, track, read } = probeOf(source);
    let copies = 0;
    // It moves in the first copies, and is set after the second copy of the slots.
    source.afterCopy = () => {
      copies++;
      if (copies === 1) source.setSynced({ slot: asOf.slot, incarnation: 2 }, true);
      if (copies === 3) source.setSlot(asOf, 7n);
    };
    track(root);
    expect([copies, probe.bits(asOf)]).to.deep.equal([4, undefined]);
    source.afterCopy = () => undefined;
    read();
    expect(probe.bits(asOf)).to.equal(7n);
  });

  it('what moves only while others are copied again is lost at once', () => {
    const { source, root } = shop();
    const [former, other] = ['former', 'other'].map((name) =>
      source.addVariable(root, name, { type: 'u64', value: 1n }),
    );
    if (former === undefined || other === undefined) throw new Error('There are two');
    const { probe, track, read } = probeOf(source);
    for (const variable of [former, other]) track(variable);
    read();
    source.setSynced(other, false);
    let copies = 0;
    source.afterCopy = () => {
      if (++copies !== 2) return;
      source.remove(former);
      source.addVariable(root, 'next', { type: 'u64', value: 9n, slot: former.slot });
    };
    expect(read()).to.have.members(['unsynced former', 'unsynced other']);
    expect(probe.isSynced(former)).to.equal(false);
  });

  it('whatever a publisher does between two copies, an item has no value of another, and its own in the end', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            acts: fc.array(
              fc.record({ copy: fc.nat(6), what: fc.nat(3), slot: fc.nat(SLOTS.length - 1) }),
              { maxLength: 6 },
            ),
            /** Which slots are given to their owners in the round. */
            tracks: fc.nat(2 ** SLOTS.length - 1),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        (rounds) => {
          const { source, root } = shop();
          let values = 0n;
          const valueFor = ({ id }: Variable) => BigInt(id) * 1000n + ++values;
          const store = (owner: Variable) => {
            source.set(owner, valueFor(owner));
            source.setSynced(owner, true);
          };
          const add = (slot: number) => source.addVariable(root, 'v', { type: 'u64', slot });
          const owners = SLOTS.map(add);
          const { probe, track, read, valueOf } = probeOf(source);
          const tracked = new Map<number, Variable>();
          const act = (what: number, place: number) => {
            const [owner, slot] = [owners[place], SLOTS[place]];
            if (owner === undefined || slot === undefined) return;
            if (what === 0) {
              source.remove(owner);
              store((owners[place] = add(slot)));
            } else if (what === 1) source.setSynced(owner, false);
            else store(owner);
          };
          const take = (tracks: number) => {
            for (const [place, owner] of owners.entries()) {
              const former = tracked.get(place);
              if (((tracks >> place) & 1) === 0 || former === owner) continue;
              if (former !== undefined) probe.untrack(former);
              tracked.set(place, owner);
              track(owner);
            }
          };
          for (const { acts, tracks } of rounds) {
            let copies = 0;
            source.afterCopy = () => {
              for (const { copy, what, slot } of acts) if (copy === copies) act(what, slot);
              copies++;
            };
            take(tracks);
            read();
            for (const item of tracked.values())
              if (probe.isSynced(item))
                expect((valueOf(item) ?? 0n) / 1000n, 'whose value').to.equal(BigInt(item.id));
          }
          source.afterCopy = () => undefined;
          take(2 ** SLOTS.length - 1);
          read();
          for (const owner of owners) {
            const bits = new BigUint64Array(1);
            const word = new Uint32Array(1);
            source.readSlots(owner.slot, 1, new Uint8Array(bits.buffer));
            source.readWords(owner.slot, 1, new Uint8Array(word.buffer));
            expect(valueOf(owner)).to.equal(((word[0] ?? 0) & 1) === 1 ? bits[0] : undefined);
            expect(probe.isSynced(owner)).to.equal(((word[0] ?? 0) & 1) === 1);
          }
        },
      ),
      { numRuns: 1000 },
    ));

  it('pages that follow on are read together, up to 64, wherever their copies are', () => {
    const { source, root } = shop();
    const { kernel, track, read, valueOf } = probeOf(source);
    const all = Array.from({ length: 40_000 }, (_, i) =>
      source.addVariable(root, `v${i}`, { type: 'u64', value: BigInt(i) }),
    );
    for (const [index, variable] of all.entries()) {
      track(variable);
      // What others take lies between the copies of these pages.
      if (index % 5000 === 0) kernel.arena.take(100_000);
    }
    expect(read()).to.have.lengthOf(40_000);
    const before = source.slotReads.length;
    for (const variable of all) source.set(variable, BigInt(variable.slot) * 3n);
    read();
    const reads = source.slotReads.slice(before);
    const [first, second] = reads.map(([, count]) => count);
    expect(reads).to.deep.equal([
      [0, first],
      [first, second],
    ]);
    expect(first).to.be.within(32 * 512, 64 * 512);
    expect((first ?? 0) + (second ?? 0)).to.equal(79 * 512);
    expect(all.every((variable) => valueOf(variable) === BigInt(variable.slot) * 3n)).to.equal(
      true,
    );
  });

  it('copies again in the same step what lost its value, however much that is', () => {
    const { source, root } = shop();
    const { probe, track, read } = probeOf(source);
    const all = Array.from({ length: 100_000 }, (_, i) =>
      source.addVariable(root, `v${i}`, { type: 'u64', value: 1n }),
    );
    for (const variable of all) track(variable);
    read();
    for (const variable of all) source.setSynced(variable, false);
    source.slotReads.length = 0;
    const steps: number[] = [];
    for (const reading = probe.reading(); reading.next().done !== true;)
      steps.push(source.slotReads.splice(0).reduce((sum, [, count]) => sum + count, 0));
    expect(steps.length).to.be.at.least(4);
    expect(Math.max(...steps)).to.be.at.most(2 * 64 * 512);
    while (probe.reportUnsynced());
    expect(all.some((variable) => probe.isSynced(variable))).to.equal(false);
  });

  it('tells of the watched items whose slots changed, and of no others', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ toggle: fc.nat(149), change: fc.array(fc.nat(149), { maxLength: 4 }) }),
          { maxLength: 120, minLength: 90 },
        ),
        (steps) => {
          const { source, root } = shop();
          const all = Array.from({ length: 150 }, (_, i) =>
            source.addVariable(root, `v${i}`, { type: 'u64', value: 0n }),
          );
          const { probe, track, read } = probeOf(source);
          for (const variable of all) track(variable);
          read();
          const watched = new Set<string>();
          for (const [round, { toggle, change }] of steps.entries()) {
            const item = all[toggle];
            if (item === undefined) continue;
            if (watched.delete(item.name)) probe.unwatch(item);
            else {
              watched.add(item.name);
              probe.watch(item);
              probe.watch(item);
            }
            const changed = new Set(change.flatMap((index) => all[index] ?? []));
            for (const variable of changed) source.set(variable, BigInt(round + 1));
            const wanted = [...changed].filter(({ name }) => watched.has(name));
            expect(read().toSorted()).to.deep.equal(
              wanted.map(({ name }) => `changed ${name}`).toSorted(),
            );
          }
        },
      ),
      { numRuns: 20 },
    ));

  it('says whether anything differs from the last copy', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 1n });
    const { probe, track } = probeOf(source);
    track(sales);
    expect(finished(probe.reading())).to.equal(false);
    source.set(sales, 2n);
    expect(finished(probe.reading())).to.equal(true);
    expect(finished(probe.reading())).to.equal(false);
    source.setSynced(sales, false);
    expect(finished(probe.reading())).to.equal(true);
  });

  it('gives all its memory back', () => {
    const { source, root } = shop();
    const { kernel, probe, track, read } = probeOf(source);
    for (let i = 0; i < 3000; i++) {
      const variable = source.addVariable(root, `v${i}`, { type: 'u64', value: 1n });
      track(variable);
      probe.watch(variable);
    }
    read();
    expect(kernel.arena.used).to.be.greaterThan(36_000);
    probe.close();
    expect(kernel.arena.used).to.equal(0);
  });
});
