import { expect } from 'chai';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PolledSource, Slots } from '#app/foreign/polled-source.js';

const MODULE = import.meta.resolve('#app/foreign/polled-source.js');
const POSTS_GENERATION = `
  const { parentPort } = require('node:worker_threads');
  import('${MODULE}').then(({ PolledSource }) => parentPort.postMessage(new PolledSource(8).generation));
`;

/** Resolves with the generation of the first source that a new thread creates. */
const generationOfThread = (): Promise<unknown> =>
  once(new Worker(POSTS_GENERATION, { eval: true }), 'message').then((args: unknown[]) => args[0]);

describe('A polled source', () => {
  it('has a generation that is unique in all threads', async () => {
    const made = [new PolledSource(8).generation, new PolledSource(8).generation];
    const generations = [...made, await generationOfThread(), await generationOfThread()];
    expect(new Set(generations).size).to.equal(generations.length);
  });
});

/** Creates a slot writer that counts its calls. */
function countingWriter() {
  return {
    calls: 0,
    writeSlots() {
      this.calls++;
    },
  };
}

const wordOf = (slots: Slots, slot: number): number => {
  const word = Buffer.alloc(4);
  slots.readWords(slot, 1, word);
  return word.readUInt32LE();
};

describe('A slot table of a polled source', () => {
  for (const slab of [4, 32, 256])
    it(`calls each writer of copied slots once per copy (slabs of ${slab} slots)`, () => {
      const slots = new Slots(slab);
      const [a, b, c] = [countingWriter(), countingWriter(), countingWriter()];
      for (const writer of [a, b, c]) for (let slot = 0; slot <= slab; slot++) slots.take(writer);
      slots.readValues(0, 3 * slab, Buffer.alloc(3 * slab * 8));
      expect([a.calls, b.calls, c.calls]).to.deep.equal([1, 1, 0]);
      slots.readValues(4 * slab, slab, Buffer.alloc(slab * 8));
      expect([a.calls, b.calls, c.calls]).to.deep.equal([1, 1, 1]);
    });

  it('copies the values that a writer sets when the copy calls the writer', () => {
    const slots = new Slots(4);
    let slot = 0;
    const writer = { writeSlots: () => slots.set(slot, 7n) };
    slot = slots.take(writer);
    const value = Buffer.alloc(8);
    expect(slots.readValues(slot, 1, value)).to.equal(1);
    expect(value.readBigInt64LE()).to.equal(7n);
  });

  it('gives a released slot a new incarnation and no value for its next writer', () => {
    const slots = new Slots(4);
    const [a, b] = [countingWriter(), countingWriter()];
    const slot = slots.take(a);
    slots.setSynced(slot, true);
    expect(wordOf(slots, slot)).to.equal((1 << 1) | 1);
    slots.release(a);
    expect(wordOf(slots, slot)).to.equal(2 << 1);
    expect(slots.take(b)).to.equal(slot);
    expect(slots.incarnation(slot)).to.equal(2);
  });

  it('copies no slots beyond its last slot', () => {
    const slots = new Slots(4);
    slots.take(countingWriter());
    expect(slots.readValues(2, 100, Buffer.alloc(800))).to.equal(2);
    expect(slots.readWords(100, 100, Buffer.alloc(400))).to.equal(0);
  });
});
