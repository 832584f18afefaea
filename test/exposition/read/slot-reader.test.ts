// Tests Probe, which copies values out of a source that may change at any moment.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { SlotCopies } from '#app/exposition/read/node-values.js';
import { SlotReader } from '#app/exposition/read/slot-reader.js';
import type { SlotListener } from '#app/exposition/read/slot-reader.js';
import type { TreeNode } from '#app/exposition/read/tree-walk.js';
import type { ManagedObject, Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import { runToEnd } from '#app/run-to-end.js';

/**
 * The number of nodes that a random test tracks. Each has a slot on one of eight adjacent pages or on a
 * distant page.
 */
const TRACKED = 6;
const someSlots = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 137), fc.constantFrom(0, 1, 7, 511))
    .map(([page, slot]) => page * 512 + slot),
  { minLength: TRACKED, maxLength: TRACKED },
);

/** A probe that records its notifications as, for example, `synced name`. */
function probeOf(source: FakeSource, kernel = new Kernel()) {
  const notifications: string[] = [];
  const react: Partial<Record<keyof SlotListener, (item: TreeNode) => void>> = {};
  const listen = (what: keyof SlotListener) => (item: TreeNode) => {
    notifications.push(`${what} ${item.name}`);
    react[what]?.(item);
  };
  const [root = { id: 0 }] = source.roots;
  const probe = new SlotReader(kernel, source, root);
  const listener: SlotListener = {
    synced: listen('synced'),
    changed: listen('changed'),
    unsynced: listen('unsynced'),
  };
  return {
    kernel,
    probe,
    listener,
    react,
    /** Tracks an item. If the item already has a value, records `synced` at once. */
    track: (item: TreeNode): void => {
      if (probe.track(item)) listen('synced')(item);
    },
    /** Reads once and returns the notifications since the last read. */
    read: (): string[] => {
      runToEnd(probe.reading(listener));
      while (probe.reportUnsynced(listener) || probe.reportSynced(listener));
      return notifications.splice(0);
    },
    valueOf: (item: ManagedObject | Variable) => probe.bits(item),
  };
}

const shop = (source = new FakeSource()) => ({
  source,
  root: source.addObject('h.1.shop', 'Shop'),
});

describe('a slot reader', () => {
  it('compares many values in small steps', () => {
    const { source, root } = shop();
    const { probe, listener, track, read } = probeOf(source);
    const items = Array.from({ length: 20_000 }, (_, i) =>
      source.addVariable(root, `v${i}`, { type: 'u64', value: 1n }),
    );
    for (const item of items) track(item);
    read();
    const stepsOf = () => {
      const reading = probe.reading(listener);
      let steps = 0;
      while (reading.next().done !== true) steps++;
      return steps;
    };
    const before = stepsOf();
    for (const item of items) probe.changes.add(item);
    expect(stepsOf() - before).to.equal(2);
  });

  it('works with memory addresses beyond 2 GiB', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 7n });
    const kernel = new Kernel();
    kernel.arena.allocate(2 ** 31);
    const { probe, track, read, valueOf } = probeOf(source, kernel);
    track(sales);
    probe.changes.add(sales);
    expect(read()).to.deep.equal(['synced sales']);
    expect(valueOf(sales)).to.equal(7n);
    source.set(sales, 8n);
    expect(read()).to.deep.equal(['changed sales']);
  });

  it('keeps the last copied value after the source shrinks', () => {
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

  it('reports a node once it is synced, even if it was synced before it was tracked', () => {
    const { source, root } = shop();
    const early = source.addVariable(root, 'early', { type: 'u64', value: 1n });
    const late = source.addVariable(root, 'late', { type: 'u64' });
    const { probe, track, read } = probeOf(source);
    track(late);
    expect(read()).to.deep.equal([]);
    track(early);
    expect(probe.nodes.isSynced(early)).to.equal(true);
    track(root);
    expect(read()).to.deep.equal(['synced early', 'synced h.1.shop']);
    source.setSynced(late, true);
    expect(read()).to.deep.equal(['synced late']);
    expect(read()).to.deep.equal([]);
    expect([early, late, root].map((item) => probe.nodes.isSynced(item))).to.deep.equal([
      true,
      true,
      true,
    ]);
  });

  it('awaits no value of a node, except the root, once its slot belongs to another node', () => {
    const { source, root } = shop();
    const [sales, late] = [
      source.addVariable(root, 'sales', { type: 'u64', value: 1n }),
      source.addVariable(root, 'late', { type: 'u64' }),
    ];
    const { probe, track, read } = probeOf(source);
    const { nodes } = probe;
    for (const node of [root, sales, late]) track(node);
    read();
    expect(nodes.variables, 'not yet synced is not replaced').to.deep.equal({
      synced: 1,
      total: 2,
    });
    expect(nodes.awaited?.name).to.equal('late');
    for (const { slot, incarnation } of [root, sales, late])
      source.setSynced({ slot, incarnation: incarnation + 1 }, false);
    expect(read()).to.deep.equal(['unsynced h.1.shop', 'unsynced sales']);
    expect(nodes.variables).to.deep.equal({ synced: 0, total: 0 });
    expect(nodes.objects).to.deep.equal({ synced: 0, total: 1 });
    expect(nodes.awaited).to.equal(root);
  });

  it('reports when a node loses its value and when it has a value again', () => {
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
    expect(probe.nodes.isTracked(sales)).to.equal(false);
  });

  it('returns no value for a removed node after its slot is reused', () => {
    const { source, root } = shop();
    const former = source.addVariable(root, 'former', { type: 'u64', value: 1n });
    const { probe, track, read, valueOf } = probeOf(source);
    track(former);
    read();
    source.remove(former);
    const next = source.addVariable(root, 'next', { type: 'u64', value: 2n });
    expect(next.slot).to.equal(former.slot);
    expect(read()).to.deep.equal(['unsynced former']);
    expect(probe.nodes.node(next.slot)).to.include({ id: former.id, name: 'former' });
    probe.untrack(former);
    track(next);
    expect(read()).to.deep.equal(['synced next']);
    expect([valueOf(former), valueOf(next)]).to.deep.equal([undefined, 2n]);
  });

  it('never returns the value of the new owner of a slot for the previous owner', () => {
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
      // In one of three rounds, the slot is reused during the read; in another, between two reads.
      if (round % 3 === 0) source.afterCopy = reuse;
      read();
      expect(valueOf(tracked)).to.equal(round % 3 === 0 ? undefined : BigInt(index));
      expect(probe.nodes.isSynced(tracked)).to.equal(round % 3 !== 0);
      if (round % 3 === 1) reuse();
    }
    expect(reused).to.equal(40);
  });

  it('copies only sectors with tracked nodes', () => {
    const { source, root } = shop();
    const at = (slot: number) => source.addVariable(root, `v${slot}`, { type: 'u64', slot });
    const { track, read } = probeOf(source);
    read();
    expect(source.slotReads).to.deep.equal([]);
    for (const variable of [0, 511, 20_000].map(at)) track(variable);
    const sectors: [number, number][] = [
      [0, 512],
      [19_968, 512],
    ];
    // When the first item of a sector is tracked, the words are new, so the probe copies the sector twice.
    expect(source.slotReads).to.deep.equal(sectors.flatMap((sector) => [sector, sector]));
    read();
    expect(source.slotReads.slice(4)).to.deep.equal(sectors);
  });

  it('returns no timestamp that the publisher set while the slot of the timestamp was copied', () => {
    const source = new FakeSource();
    const asOf = { slot: 9, incarnation: 1 };
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    source.setSynced(asOf, false);
    const { probe, track, read } = probeOf(source);
    let copies = 0;
    // The timestamp moves to another slot during the first copies. It is set there after the slots were
    // copied twice.
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

  for (const copy of [1, 2, 3])
    it(`never reads the value of the previous owner of a slot if the new owner sets a value after copy ${copy}`, () => {
      const source = new FakeSource();
      const asOf = { slot: 9, incarnation: 2 };
      source.addObject('h.1.shop', 'Shop', { asOf });
      source.setSlot({ slot: asOf.slot, incarnation: 1 }, 5n);
      let copies = 0;
      source.afterCopy = () => {
        if (++copies === copy) source.setSlot(asOf, 7n);
      };
      expect(new SlotCopies(source).bits(asOf)).to.be.oneOf([undefined, 7n]);
      source.setSlot(asOf, 7n);
      expect(new SlotCopies(source).bits(asOf)).to.equal(7n);
    });

  for (const copy of [1, 2, 3])
    it(`reads no value of a new owner that takes the slot after copy ${copy}`, () => {
      const source = new FakeSource();
      const asOf = { slot: 9, incarnation: 2 };
      source.addObject('h.1.shop', 'Shop', { asOf });
      source.setSlot(asOf, 5n);
      let copies = 0;
      source.afterCopy = () => {
        if (++copies === copy) source.setSlot({ slot: asOf.slot, incarnation: 3 }, 7n);
      };
      expect(new SlotCopies(source).bits(asOf)).to.be.oneOf([undefined, 5n]);
      expect(new SlotCopies(source).bits(asOf)).to.equal(undefined);
    });

  it('never returns the value of another node during random changes, and returns all values after them', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            acts: fc.array(
              fc.record({ copy: fc.nat(6), what: fc.nat(3), slot: fc.nat(TRACKED - 1) }),
              { maxLength: 6 },
            ),
            /** A bit mask of the slots whose owners are tracked in this round. */
            tracks: fc.nat(2 ** TRACKED - 1),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        // The order in which the slots are tracked.
        someSlots,
        (rounds, slots) => {
          const { source, root } = shop();
          let values = 0n;
          const valueFor = ({ id }: Variable) => BigInt(id) * 1000n + ++values;
          const store = (owner: Variable) => {
            source.set(owner, valueFor(owner));
            source.setSynced(owner, true);
          };
          const add = (slot: number) => source.addVariable(root, 'v', { type: 'u64', slot });
          const owners = slots.map(add);
          const { probe, track, read, valueOf } = probeOf(source);
          const tracked = new Map<number, Variable>();
          const act = (what: number, place: number) => {
            const [owner, slot] = [owners[place], slots[place]];
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
              if (probe.nodes.isSynced(item))
                expect((valueOf(item) ?? 0n) / 1000n, 'whose value').to.equal(BigInt(item.id));
          }
          source.afterCopy = () => undefined;
          take(2 ** TRACKED - 1);
          read();
          for (const owner of owners) {
            const bits = new BigUint64Array(1);
            const word = new Uint32Array(1);
            source.readSlots(owner.slot, 1, new Uint8Array(bits.buffer));
            source.readWords(owner.slot, 1, new Uint8Array(word.buffer));
            expect(valueOf(owner)).to.equal(((word[0] ?? 0) & 1) === 1 ? bits[0] : undefined);
            expect(probe.nodes.isSynced(owner)).to.equal(((word[0] ?? 0) & 1) === 1);
          }
        },
      ),
      { numRuns: 100 },
    ));

  it('reports changed slots only for the given nodes', () =>
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
            if (watched.delete(item.name)) probe.changes.remove(item);
            else {
              watched.add(item.name);
              probe.changes.add(item);
              probe.changes.add(item);
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

  it('reports whether a tracked value differs from the last copy', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 1n });
    const { probe, listener, track } = probeOf(source);
    track(sales);
    expect(runToEnd(probe.reading(listener))).to.equal(false);
    source.set(sales, 2n);
    expect(runToEnd(probe.reading(listener))).to.equal(true);
    expect(runToEnd(probe.reading(listener))).to.equal(false);
    source.setSynced(sales, false);
    expect(runToEnd(probe.reading(listener))).to.equal(true);
  });

  it('frees all its memory when it is closed', () => {
    const { source, root } = shop();
    const { kernel, probe, track, read } = probeOf(source);
    for (let i = 0; i < 3000; i++) {
      const variable = source.addVariable(root, `v${i}`, { type: 'u64', value: 1n });
      track(variable);
      probe.changes.add(variable);
    }
    read();
    expect(kernel.arena.used).to.be.greaterThan(36_000);
    probe.close();
    expect(kernel.arena.used).to.equal(0);
  });
});
