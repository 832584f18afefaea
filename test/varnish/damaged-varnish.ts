// A Varnish instance to damage and read. Each value is unique to its name.
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PollResult } from '#app/streams/poller.js';
import { VarnishPoller } from '#app/varnish/varnish-poller.js';
import { valuesOf } from '../support/polled-values.js';
import { BuiltDirectory, bodyOf, poke, schemaJson, segmentBytes } from './built-instance.js';
import { BOOT_S, writeFakeProcess } from './fake-process.js';

const PID = 4711;
const BIRTH = BOOT_S + 1000;
/** The idents of each class. They differ so much that a few changed bytes never turn one into another. */
const IDENTS = {
  lck: ['LCK.operations', 'LCK.backend_tcp', 'LCK.vcapace'],
  vbe: ['VBE.boot.origin', 'VBE.reload_17.checkout', 'VBE.summer.media'],
};
const FIELDS = {
  lck: ['creat', 'destroy', 'locks'],
  vbe: ['happiness', 'requests', 'unhealthy', 'helddown'],
};
const SCHEMAS = { lck: 0x5611_0f0f_1230n, vbe: 0x7ff0_a5a5_cde0n };

/** Returns a value that is unique to a name and does not resemble a segment header. */
function valueOf(name: string): bigint {
  let hash = 14_695_981_039_346_656_037n;
  for (const byte of Buffer.from(name))
    hash = ((hash ^ BigInt(byte)) * 1_099_511_628_211n) & 0xffff_ffff_ffff_ffffn;
  return hash >> 1n;
}

const bodyFor = (ident: string, fields: readonly string[]) =>
  bodyOf(fields.map((field) => valueOf(`${ident} ${field}`)));

/** A file, and the offsets of its bytes that do not belong to values. */
export interface DamagedFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

/** A change of a file. An index or offset that is too large wraps around. */
export type Damage =
  | { readonly kind: 'byte'; readonly file: number; readonly at: number; readonly byte: number }
  | { readonly kind: 'number'; readonly file: number; readonly at: number; readonly value: bigint }
  | { readonly kind: 'cut'; readonly file: number; readonly at: number }
  | { readonly kind: 'lines'; readonly file: number; readonly at: number; readonly to: number };

/** Boundary values that readers often handle incorrectly. */
export const NUMBERS: readonly bigint[] = [
  ...[0n, 1n, 2n, 7n, 8n, 16n, 23n, 32n, 64n, 2n ** 16n, 2n ** 31n - 1n, 2n ** 32n, 2n ** 63n],
  2n ** 64n - 1n,
];

const KNOWN: ReadonlyMap<string, bigint> = new Map(
  (['lck', 'vbe'] as const).flatMap((name) =>
    IDENTS[name].flatMap((ident) =>
      FIELDS[name].map((field) => [`${ident} ${field}`, valueOf(`${ident} ${field}`)]),
    ),
  ),
);

export class DamagedVarnish {
  readonly files: readonly DamagedFile[];
  readonly #folder: string;

  /** @param folder an empty folder for the instance and the fake process of its manager */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, 'all/shop'), { recursive: true });
    writeFakeProcess(join(folder, 'proc'), PID, 900, 'varnishd');
    this.files = built(join(folder, 'all/shop'));
  }

  /** The number of values in the undamaged instance. */
  get size(): number {
    return KNOWN.size;
  }

  /** Returns a new poller. The caller must close it. */
  poller(): VarnishPoller {
    const settings = { directory: join(this.#folder, 'all'), names: 'clean' } as const;
    return new VarnishPoller('shop', settings, { proc: join(this.#folder, 'proc') });
  }

  /** Damages the files, in addition to earlier damage. */
  damage(damages: readonly Damage[]): void {
    // Cut files last: a write after a cut would leave a hole that reads as zeros.
    const ordered = damages.toSorted((a, b) => Number(a.kind === 'cut') - Number(b.kind === 'cut'));
    for (const each of ordered) {
      const file = this.files[each.file % this.files.length];
      if (file !== undefined) apply(file, each);
    }
  }

  restore(): void {
    for (const { path, bytes } of this.files) writeFileSync(path, bytes);
  }

  /** Compares the values of a new copy with those that were written. */
  judge(seen: Pick<PollResult, 'source'>): {
    readonly right: number;
    readonly wrong: readonly string[];
  } {
    const wrong: string[] = [];
    let right = 0;
    for (const [name, value] of valuesOf(seen)) {
      const expected = KNOWN.get(name);
      if (expected === undefined || value === undefined) continue;
      if (value === expected) right++;
      else wrong.push(`${name} is ${value} in place of ${expected}`);
    }
    return { right, wrong };
  }
}

/** Writes segments of two classes, in separate files and in shared ones. */
function built(path: string): readonly DamagedFile[] {
  const manager = new BuiltDirectory(join(path, '_.vsm_mgt'), { pid: PID, birth: BIRTH });
  const child = new BuiltDirectory(join(path, '_.vsm_child'), { pid: PID + 1, birth: BIRTH });
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
  return [manager, child].flatMap(filesIn);
}

function filesIn({ path }: BuiltDirectory): DamagedFile[] {
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

/** Alters one file. */
function apply({ path, bytes, places }: DamagedFile, each: Damage): void {
  const at = places[each.at % places.length] ?? 0;
  if (each.kind === 'byte') poke(path, at, Buffer.of(each.byte));
  if (each.kind === 'cut')
    truncateSync(path, Math.min(statSync(path).size, each.at % (bytes.length + 1)));
  if (each.kind === 'number') {
    const eight = Buffer.alloc(8);
    eight.writeBigUInt64LE(each.value);
    // The integers in the header have offsets that are multiples of 8.
    poke(path, at - (at % 8), eight.subarray(0, Math.min(8, bytes.length - at + (at % 8))));
  }
  if (each.kind === 'lines' && path.endsWith('index')) {
    const lines = readFileSync(path, 'latin1').split('\n');
    const [line = ''] = lines.splice(each.at % lines.length, 1);
    lines.splice(each.to % (lines.length + 1), 0, line, ...(each.at % 3 === 0 ? [line] : []));
    writeFileSync(path, lines.join('\n'), 'latin1');
  }
}
