// Tests the layout of files of a multiprocess directory.
import { expect } from 'chai';
import fc from 'fast-check';
import { Fault } from '#app/errors.js';
import { checkUsed, readingChain, usedIn } from '#app/multiprocess/metric-file.js';
import type { EntryChain } from '#app/multiprocess/metric-file.js';
import { anyCharacter } from '../support/any-character.js';
import { fileBytes, pythonKey, rubyKey } from './metric-bytes.js';
import type { Entry } from './metric-bytes.js';

/** Runs all steps of a read. Returns its chain, and the number of steps. */
function readChain(...parameters: Parameters<typeof readingChain>) {
  const steps = readingChain(...parameters);
  let count = 1;
  let last = steps.next();
  for (; last.done !== true; count++) last = steps.next();
  return { ...last.value, count };
}

const chainOf = (bytes: Buffer): EntryChain & { readonly count: number } => {
  const used = usedIn(bytes);
  checkUsed(used, bytes.length);
  return readChain(bytes.subarray(0, used));
};

/** The keys, values and times that a reader finds. */
const entriesIn = (bytes: Buffer): readonly Entry[] => {
  const { stride, entries } = chainOf(bytes);
  const doubles = new DataView(bytes.buffer, bytes.byteOffset);
  return entries.map(({ keyStart, keyEnd, valueAt }) => ({
    key: bytes.toString('utf8', keyStart, keyEnd),
    value: doubles.getFloat64(valueAt, true),
    ...(stride === 16 && { time: doubles.getFloat64(valueAt + 8, true) }),
  }));
};

describe('A file of a multiprocess directory', () => {
  const entries = [
    { key: pythonKey('requests', 'requests_total', { path: '/' }), value: 3, time: 0 },
    { key: pythonKey('level'), value: -0.5, time: 1_700_000_000.25 },
  ];

  it('is read in steps, also if it has many entries or a large hole', () => {
    const many = Array.from({ length: 10_000 }, () => ({ key: '[]', value: 0 }));
    expect(chainOf(fileBytes(many, 16)).count).to.be.above(2);
    const hole = Buffer.concat([fileBytes([{ key: '[]', value: 0 }], 8), Buffer.alloc(2 ** 20)]);
    hole.writeInt32LE(hole.length);
    expect(chainOf(hole).count).to.be.above(10);
  });

  it('has entries with times from version 0.18 of the Python library on', () => {
    expect(entriesIn(fileBytes(entries, 16, 65_536))).to.deep.equal(entries);
  });

  it('has entries without times in the Ruby dialect', () => {
    const own = [
      { key: rubyKey('a'), value: 1 },
      { key: rubyKey('b', 'b', { c: 'd' }), value: 2 },
    ];
    expect(entriesIn(fileBytes(own, 8, 4096))).to.deep.equal(own);
  });

  it('has no entries at first', () => {
    expect(entriesIn(fileBytes([], 8, 4096))).to.deep.equal([]);
  });

  it('may have holes in the Ruby dialect', () => {
    const [first, second] = [fileBytes([{ key: rubyKey('a'), value: 1 }], 8), rubyKey('b')];
    const rest = fileBytes([{ key: second, value: 2 }], 8).subarray(8);
    const bytes = Buffer.concat([first, Buffer.alloc(16), rest, Buffer.alloc(8)]);
    bytes.writeInt32LE(bytes.length);
    expect(entriesIn(bytes).map(({ key }) => key)).to.deep.equal([rubyKey('a'), second]);
  });

  it('is read from a position on, with the stride of the entries before', () => {
    const [first] = entries;
    const start = fileBytes(first === undefined ? [] : [first]).length;
    const bytes = fileBytes(entries);
    expect(readChain(bytes, start, 16).entries).to.deep.equal(chainOf(bytes).entries.slice(1));
    expect(() => readChain(bytes, start, 8)).to.throw(/do not end at its/);
  });

  const faults: Readonly<Record<string, readonly [(bytes: Buffer) => void, RegExp]>> = {
    'the number of used bytes is negative': [(each) => each.writeInt32LE(-8), /-8 used bytes/],
    'the number of used bytes is odd': [(each) => each.writeInt32LE(17), /17 used bytes/],
    'the number of used bytes exceeds the size': [(each) => each.writeInt32LE(1 << 20), /only/],
    'a key is longer than the file': [(each) => each.writeInt32LE(2 ** 31 - 1, 8), /do not end/],
    'a key has a negative length': [(each) => each.writeInt32LE(-1, 8), /do not end/],
    'a key has no bytes': [(each) => each.writeInt32LE(0, 8), /do not end/],
    'a key is no array': [(each) => each.write('{', 12), /do not end/],
  };
  for (const [what, [damage, message]] of Object.entries(faults))
    it(`is refused if ${what}`, () => {
      const bytes = fileBytes(entries);
      damage(bytes);
      expect(() => chainOf(bytes)).to.throw(Fault, message);
    });

  const key = fc
    .string({ unit: anyCharacter, maxLength: 40 })
    .map((help) => pythonKey('a', 'a', {}, help));
  const number = fc.double({ noNaN: true });
  const anyEntries = (time: fc.Arbitrary<number>) =>
    fc.array(fc.record({ key, value: number, time }), { maxLength: 20 });

  it('gives back all entries, whatever their keys, values and times', () => {
    fc.assert(
      fc.property(anyEntries(number), fc.nat(999), (own, spare) => {
        const bytes = fileBytes(own, 16, spare * 8);
        expect(entriesIn(bytes)).to.deep.equal(own);
      }),
    );
    fc.assert(
      fc.property(anyEntries(fc.constant(0)), (own) => {
        expect(entriesIn(fileBytes(own, 8))).to.deep.equal(
          own.map(({ key, value }) => ({ key, value })),
        );
      }),
    );
  });

  it('never gives a value that is not in the file, however the bytes are damaged', () => {
    const damage = fc.tuple(fc.nat(400), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
    fc.assert(
      fc.property(
        anyEntries(number),
        fc.array(damage, { maxLength: 3 }),
        fc.nat(400),
        (own, all, cut) => {
          const whole = fileBytes(own);
          for (const [at, value] of all) if (at + 4 <= whole.length) whole.writeInt32LE(value, at);
          const bytes = whole.subarray(0, Math.max(8, whole.length - (cut % 9 === 0 ? cut : 0)));
          try {
            for (const { keyStart, keyEnd, valueAt } of chainOf(bytes).entries) {
              expect(bytes[keyStart]).to.equal(0x5b);
              expect(bytes[keyEnd - 1]).to.equal(0x5d);
              expect(valueAt).to.be.within(keyEnd + 1, keyEnd + 8);
              expect(valueAt + 8).to.be.at.most(bytes.length);
            }
          } catch (error) {
            if (!(error instanceof Fault)) throw error;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
