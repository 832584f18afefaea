// Property tests: reading a damaged counter file takes bounded time and never mixes up values and names.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { CounterFile } from '#app/hsperfdata/counter-file.js';
import { Jvm } from '#app/hsperfdata/jvm.js';
import { PolledSource } from '#app/foreign/polled-source.js';
import { PerfData } from '#app/hsperfdata/perf-data.js';
import { Fault } from '#app/errors.js';
import { getuid } from 'node:process';
import { temporaryFolder } from '../support/temporary-folder.js';
import { perfFile } from './perf-file.js';
import type { BuiltCounter } from './perf-file.js';
import { valuesOf } from '../support/polled-values.js';

/** Returns a value that is unique to a counter name. */
const hashOf = (name: string): bigint => {
  let hash = 14_695_981_039_346_656_037n;
  for (const byte of Buffer.from(name))
    hash = ((hash ^ BigInt(byte)) * 1_099_511_628_211n) & 0xffff_ffff_ffff_ffffn;
  return BigInt.asIntN(64, hash);
};

const NAMES = Array.from(
  { length: 24 },
  (_, index) => `app.counter${'x'.repeat(index % 7)}.n${index}`,
);
const COUNTERS: readonly BuiltCounter[] = [
  { name: 'sun.os.hrt.frequency', value: 1_000_000_000n, unit: 6, variability: 1 },
  { name: 'java.property.java.vm.name', value: 'Text', room: 40 },
  { name: 'sun.rt.javaCommand', value: 'Main', room: 100 },
  ...NAMES.map((name): BuiltCounter => ({ name, value: hashOf(name) })),
];

/** Bytes that overwrite part of the header or of an entry. */
interface Damage {
  readonly at: number;
  readonly bytes: Buffer;
}

const INTEGERS = [
  0,
  1,
  -1,
  4,
  8,
  16,
  19,
  20,
  24,
  31,
  32,
  48,
  2 ** 31 - 1,
  -(2 ** 31),
  0x7fff_fff8,
  65_536,
];

/** Returns the offsets of the integers in the header and the entries, but not those in values and names. */
function structureOf(bytes: Buffer, isBigEndian: boolean): number[] {
  const places = [8, 12, 24, 28];
  let at = 32;
  while (places.length < 4 + 4 * COUNTERS.length) {
    places.push(at, at + 4, at + 8, at + 16);
    at += isBigEndian ? bytes.readInt32BE(at) : bytes.readInt32LE(at);
  }
  return places;
}

describe('A damaged counter file', () => {
  const folder = temporaryFolder();
  const runs = Number(process.env['PERF_RUNS'] ?? 200);

  /** Reads a counter file and returns its values by counter name, or undefined if the file is refused. */
  function read(path: string): Map<string, bigint | string | undefined> | undefined {
    const file = new CounterFile(path, getuid?.() ?? 0);
    const source = new PolledSource(10_000);
    try {
      const data = PerfData.of(file, { buffer: Buffer.from(new ArrayBuffer(16)) });
      if (data === undefined) return undefined;
      const writer = { writeSlots: () => undefined };
      const root = source.addObject(writer, { name: 'h.1.jvm', className: 'Host' });
      const jvm = new Jvm(source, root, 1, data);
      const values = valuesOf({ source });
      jvm.remove();
      return values;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    } finally {
      file.close();
    }
  }

  const isRight = (values: ReadonlyMap<string, bigint | string | undefined> | undefined): void => {
    for (const [place, value] of values ?? []) {
      const name = place.split(' ')[1] ?? '';
      if (typeof value === 'bigint' && NAMES.includes(name))
        expect(value, name).to.equal(hashOf(name));
    }
  };

  const damagesOf = (bytes: Buffer, isBigEndian: boolean): fc.Arbitrary<Damage> => {
    const integer = fc.record({
      at: fc.constantFrom(...structureOf(bytes, isBigEndian)),
      bytes: fc.oneof(fc.constantFrom(...INTEGERS), fc.integer()).map((value) => {
        const four = Buffer.alloc(4);
        if (isBigEndian) four.writeInt32BE(value);
        else four.writeInt32LE(value);
        return four;
      }),
    });
    const byte = fc.record({
      at: fc
        .constantFrom(...structureOf(bytes, isBigEndian))
        .chain((at) => fc.nat(3).map((more) => at + more)),
      bytes: fc.nat(255).map((value) => Buffer.of(value)),
    });
    const head = fc.record({ at: fc.nat(7), bytes: fc.nat(255).map((value) => Buffer.of(value)) });
    return fc.oneof(
      { weight: 6, arbitrary: integer },
      { weight: 3, arbitrary: byte },
      { weight: 1, arbitrary: head },
    );
  };

  for (const isBigEndian of [false, true])
    it(`in ${isBigEndian ? 'big' : 'little'}-endian order never has a wrong value under the name of a counter`, () => {
      const { bytes } = perfFile(COUNTERS, { isBigEndian, size: 4096 });
      const path = folder.write('1', bytes);
      const fd = openSync(path, 'r+');
      try {
        fc.assert(
          fc.property(
            fc.array(damagesOf(bytes, isBigEndian), { minLength: 1, maxLength: 4 }),
            (damages) => {
              writeSync(fd, bytes, 0, bytes.length, 0);
              for (const damage of damages)
                writeSync(fd, damage.bytes, 0, damage.bytes.length, damage.at);
              isRight(read(path));
            },
          ),
          { numRuns: runs },
        );
      } finally {
        closeSync(fd);
      }
    });

  it('has the values of its remaining entries after truncation at any length', () => {
    const { bytes } = perfFile(COUNTERS, { size: 4096 });
    for (let length = 0; length <= bytes.length; length += 13) {
      const path = folder.write('1', bytes.subarray(0, length));
      isRight(read(path));
    }
  });

  it('is read up to an incomplete entry', () => {
    const { bytes } = perfFile(COUNTERS, { unfilled: 3 });
    const values = read(folder.write('1', bytes));
    expect([...(values?.keys() ?? [])]).to.include.members(
      NAMES.map((name) => `1.application ${name}`),
    );
    isRight(values);
  });

  it('is read in bounded time at its maximum size with the maximum number of entries', () => {
    const many = Array.from({ length: 20_000 }, (_, index): BuiltCounter => ({
      name: `a.b${index}`,
      value: 1n,
    }));
    const { bytes } = perfFile(many, { size: 4 * 2 ** 20 });
    expect(read(folder.write('1', bytes))).to.equal(undefined);
    const { bytes: fewer } = perfFile(many.slice(0, 16_000), { size: 2 * 2 ** 20 });
    const size = read(folder.write('2', fewer))?.size ?? 0;
    expect(size).to.be.within(9990, 10_000);
  });

  it('is refused before its first byte is read if it is larger than any file of a JVM', () => {
    const path = folder.write('1', Buffer.alloc(4 * 2 ** 20 + 1));
    expect(() => new CounterFile(path, getuid?.() ?? 0)).to.throw('has 4194305 bytes');
  });

  it('is not modified', () => {
    const { bytes } = perfFile(COUNTERS);
    const path = folder.write('1', bytes);
    read(path);
    const after = Buffer.alloc(bytes.length);
    const fd = openSync(path, 'r');
    readSync(fd, after);
    closeSync(fd);
    expect(after.equals(bytes)).to.equal(true);
  });
});
