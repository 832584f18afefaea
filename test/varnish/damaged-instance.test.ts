// Whatever the shared memory of Varnish holds, reading it ends soon, and no value has the name of another.
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { VarnishWatch } from '#app/varnish/varnish-watch.js';
import { valuesOf, wholeSight } from '../support/gathered-values.js';
import { bodyOf, poke, schemaJson, segmentBytes } from './built-instance.js';
import type { BuiltDirectory } from './built-instance.js';
import { instanceFolder } from './instance-folder.js';

const PID = 4711;
/** Idents that no few changed bytes turn into each other, by their class. */
const IDENTS = {
  lck: ['LCK.operations', 'LCK.backend_tcp', 'LCK.vcapace'],
  vbe: ['VBE.boot.origin', 'VBE.reload_17.checkout', 'VBE.summer.media'],
};
const FIELDS = {
  lck: ['creat', 'destroy', 'locks'],
  vbe: ['happiness', 'requests', 'unhealthy', 'helddown'],
};
const SCHEMAS = { lck: 0x5611_0f0f_1230n, vbe: 0x7ff0_a5a5_cde0n };

/** The value of this name: no other has it, and no header of a segment looks like it. */
function valueOf(name: string): bigint {
  let hash = 14_695_981_039_346_656_037n;
  for (const byte of Buffer.from(name))
    hash = ((hash ^ BigInt(byte)) * 1_099_511_628_211n) & 0xffff_ffff_ffff_ffffn;
  return hash >> 1n;
}

const bodyFor = (ident: string, fields: readonly string[]) =>
  bodyOf(fields.map((field) => valueOf(`${ident} ${field}`)));

/** A file, and where bytes of it are that are no values. */
interface Target {
  readonly path: string;
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

type Damage =
  | { readonly kind: 'byte'; readonly file: number; readonly at: number; readonly byte: number }
  | { readonly kind: 'number'; readonly file: number; readonly at: number; readonly value: bigint }
  | { readonly kind: 'cut'; readonly file: number; readonly at: number }
  | { readonly kind: 'lines'; readonly file: number; readonly at: number; readonly to: number };

const NUMBERS = [
  0n,
  1n,
  2n,
  7n,
  8n,
  16n,
  23n,
  32n,
  64n,
  2n ** 16n,
  2n ** 31n - 1n,
  2n ** 32n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const place = { file: fc.nat(63), at: fc.nat(65_535) };
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), ...place, byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('number' as const), ...place, value: fc.constantFrom(...NUMBERS) }),
  fc.record({ kind: fc.constant('cut' as const), ...place }),
  fc.record({ kind: fc.constant('lines' as const), ...place, to: fc.nat(63) }),
);

describe('a damaged instance of Varnish', function () {
  this.timeout(60_000 + 20 * Number(process.env['VARNISH_RUNS'] ?? 0));
  this.slow(10_000);
  const folder = instanceFolder();
  const runs = Number(process.env['VARNISH_RUNS'] ?? 1500);

  /** Segments of two classes, each with a file of its own or in one of several. */
  function build(): readonly Target[] {
    folder.process(PID);
    const { manager, child } = folder.instance();
    child.schema(
      SCHEMAS.lck,
      schemaJson(
        'lck',
        FIELDS.lck.map((name) => ({ name })),
      ),
    );
    for (const ident of IDENTS.lck)
      child.segment('Stat', ident, segmentBytes(1, SCHEMAS.lck, bodyFor(ident, FIELDS.lck)));
    child.schema(
      SCHEMAS.vbe,
      schemaJson(
        'vbe',
        FIELDS.vbe.map((name) => ({ name })),
      ),
    );
    const cluster = child.cluster(512);
    IDENTS.vbe.forEach((ident, index) =>
      child.within(
        cluster,
        16 + 72 * index,
        ident,
        segmentBytes(1, SCHEMAS.vbe, bodyFor(ident, FIELDS.vbe)),
      ),
    );
    return [manager, child].flatMap(targetsIn);
  }

  function targetsIn({ path }: BuiltDirectory): Target[] {
    const range = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => from + at);
    return readdirSync(path).map((name) => {
      const bytes = readFileSync(join(path, name));
      if (name.includes('cluster'))
        return {
          path: join(path, name),
          bytes,
          places: [16, 88, 160].flatMap((at) => range(at, at + 24)),
        };
      const isValues = name.startsWith('_.Stat.');
      return { path: join(path, name), bytes, places: range(0, isValues ? 24 : bytes.length) };
    });
  }

  function apply(targets: readonly Target[], damages: readonly Damage[]): void {
    // A cut that comes last leaves no hole that reads as zeros.
    const ordered = damages.toSorted((a, b) => Number(a.kind === 'cut') - Number(b.kind === 'cut'));
    for (const each of ordered) {
      const target = targets[each.file % targets.length];
      if (target === undefined) continue;
      const { path, bytes, places } = target;
      const at = places[each.at % places.length] ?? 0;
      if (each.kind === 'byte') poke(path, at, Buffer.of(each.byte));
      if (each.kind === 'cut')
        truncateSync(path, Math.min(statSync(path).size, each.at % (bytes.length + 1)));
      if (each.kind === 'number') {
        const eight = Buffer.alloc(8);
        eight.writeBigUInt64LE(each.value);
        // A number of the header stands at a multiple of 8.
        poke(path, at - (at % 8), eight.subarray(0, Math.min(8, bytes.length - at + (at % 8))));
      }
      if (each.kind === 'lines' && path.endsWith('index')) {
        const lines = readFileSync(path, 'latin1').split('\n');
        const [line = ''] = lines.splice(each.at % lines.length, 1);
        lines.splice(each.to % (lines.length + 1), 0, line, ...(each.at % 3 === 0 ? [line] : []));
        writeFileSync(path, lines.join('\n'), 'latin1');
      }
    }
  }

  function restore(targets: readonly Target[]): void {
    for (const { path, bytes } of targets) writeFileSync(path, bytes);
  }

  const KNOWN: ReadonlyMap<string, bigint> = new Map(
    (['lck', 'vbe'] as const).flatMap((name) =>
      IDENTS[name].flatMap((ident) =>
        FIELDS[name].map((field) => [`${ident} ${field}`, valueOf(`${ident} ${field}`)]),
      ),
    ),
  );

  /** Reads twice: values as they were taken in, and as they are copied without a look before. */
  function expectRight(watch: VarnishWatch): number {
    const seen = wholeSight(watch);
    let right = 0;
    for (const values of [valuesOf(seen), valuesOf(seen)])
      for (const [name, value] of values) {
        const expected = KNOWN.get(name);
        if (expected === undefined || value === undefined) continue;
        expect(value, name).to.equal(expected);
        right++;
      }
    return right;
  }

  it('has right values under right names or none, damaged before it is read', () => {
    const targets = build();
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
        restore(targets);
        apply(targets, damages);
        const watch = folder.watch({ names: 'clean' });
        expectRight(watch);
        watch.close();
      }),
      { numRuns: runs },
    );
    restore(targets);
    expect(expectRight(folder.watch({ names: 'clean' }))).to.equal(2 * KNOWN.size);
  });

  it('has right values under right names or none, damaged while it is read', () => {
    const targets = build();
    const watch = folder.watch({ names: 'clean' });
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
        restore(targets);
        const before = wholeSight(watch);
        apply(targets, damages);
        for (const [name, value] of valuesOf(before))
          if (value !== undefined && KNOWN.has(name)) expect(value, name).to.equal(KNOWN.get(name));
        expectRight(watch);
      }),
      { numRuns: runs },
    );
    restore(targets);
    wholeSight(watch);
    expect(expectRight(watch)).to.equal(2 * KNOWN.size);
  });

  it('has the values of what is left of it, wherever any file of it is cut', () => {
    const targets = build();
    for (const target of targets)
      for (let length = 0; length <= target.bytes.length; length += 7) {
        truncateSync(target.path, length);
        const watch = folder.watch({ names: 'clean' });
        expectRight(watch);
        watch.close();
        writeFileSync(target.path, target.bytes);
      }
  });

  it('leaves its files as they are', () => {
    const targets = build();
    expectRight(folder.watch());
    for (const { path, bytes } of targets) expect(readFileSync(path).equals(bytes)).to.equal(true);
  });
});
