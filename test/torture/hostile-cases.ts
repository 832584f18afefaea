// Valid segments that are as expensive to read as possible. Each may affect only its own target.
import { ftruncateSync, openSync, closeSync } from 'node:fs';
import { LIMITS, segmentName } from '#app/native/segment/layout.js';
import type { Random } from '#app/simulator/course.js';
import { Forge } from './forge.js';

export interface Stage {
  readonly contextId: string;
  readonly random: Random;
  /** The size of the case as a share of its full size, from 0 to 1. */
  readonly scale: number;
}

/** The segments of a case. `step` is called periodically to change them. */
export interface Hostile {
  readonly forges: readonly Forge[];
  readonly everyMs?: number;
  readonly step?: (round: number) => void;
}

export interface HostileCase {
  readonly name: string;
  /** The server keys of the hostile targets. Default: `evil`. */
  readonly keys?: readonly string[];
  /** Whether the segment becomes invalid. If so, it must not be served at the end. */
  readonly endsInvalid?: boolean;
  readonly make: (stage: Stage) => Hostile;
}

const KEY = 'evil';
const ROOT = 'h.1.evil';

/** Creates `count` objects of one class below a root, each with `each` u64 variables. */
function wide(stage: Stage, count: number, each: number, key = KEY): Forge {
  const records = 1 + count * (1 + each);
  const forge = new Forge(stage.contextId, key, { records, stringBytes: 1 << 26 });
  const root = forge.object({ name: ROOT });
  for (let i = 0; i < count; i++) {
    const owner = forge.object({ name: `${ROOT}.o${i}`, parent: root });
    for (let k = 0; k < each; k++) forge.variable({ owner, name: `v${k}` });
  }
  forge.publish();
  return forge;
}

const scaled = ({ scale }: Stage, count: number): number => Math.max(1, Math.round(count * scale));

/** Adds and removes an object with 100,000 descendants a few times. */
function comingAndGoing(
  stage: Stage,
  everyMs: number,
  add: (forge: Forge, id: number, index: number) => void,
): Hostile {
  const count = scaled(stage, 100_000);
  const sizes = { records: 8 * count, stringBytes: 1 << 25 };
  const forge = new Forge(stage.contextId, KEY, sizes);
  const root = forge.object({ name: ROOT });
  forge.publish();
  let id = 0;
  return {
    forges: [forge],
    everyMs,
    step: (round) => {
      if (round > 10) return;
      if (round % 2 === 0) {
        id = forge.object({ name: `${ROOT}.p`, parent: root });
        for (let i = 0; i < count; i++) add(forge, id, i);
      } else forge.tombstone(id);
      forge.publish();
      forge.notify();
    },
  };
}

function floats(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => bytes.writeDoubleLE(value, index * 8));
  return bytes;
}

export const HOSTILE: readonly HostileCase[] = [
  {
    name: 'many texts in one frame of 64 KB',
    make: (stage) => {
      const count = scaled(stage, 65_000);
      const sizes = { records: count + 1, frameBytes: 1 << 17, stringBytes: 1 << 24 };
      const forge = new Forge(stage.contextId, KEY, sizes);
      const owner = forge.object({ name: ROOT });
      const frame = forge.text(0, Buffer.alloc(LIMITS.textBytes, 'x'));
      for (let i = 0; i < count; i++)
        forge.variable({ owner, name: `t${i}`, type: 'string', frame });
      forge.publish();
      return { forges: [forge] };
    },
  },
  {
    name: 'texts in a frame that never gets whole',
    make: (stage) => {
      const count = scaled(stage, 500_000);
      const sizes = { records: count + 1, frameBytes: 1 << 17, stringBytes: 1 << 25 };
      const forge = new Forge(stage.contextId, KEY, sizes);
      const owner = forge.object({ name: ROOT });
      const frame = forge.text(0, Buffer.alloc(LIMITS.textBytes, 'x'), true);
      for (let i = 0; i < count; i++)
        forge.variable({ owner, name: `t${i}`, type: 'string', frame });
      forge.publish();
      return { forges: [forge], everyMs: 50, step: () => forge.notify() };
    },
  },
  {
    name: 'clashing series with names of blanks',
    make: (stage) => {
      const count = scaled(stage, 100);
      const sizes = { records: 4 * count + 1, frameBytes: 1 << 24, stringBytes: 1 << 20 };
      const forge = new Forge(stage.contextId, KEY, sizes);
      const root = forge.object({ name: ROOT });
      const frame = forge.text(0, Buffer.alloc(65_000, ' '));
      for (let i = 0; i < count; i++) {
        const owner = forge.object({ name: `${ROOT}.twin`, parent: root });
        forge.variable({ owner, name: 'blank', type: 'string', frame });
        forge.variable({ owner, name: `blank\n${' '.repeat(1000)}`, type: 'string', frame });
      }
      forge.publish();
      return { forges: [forge] };
    },
  },
  {
    name: 'a parent of 100,000 children goes while they are bound, and comes again',
    make: (stage) =>
      comingAndGoing(stage, 400, (forge, parent, i) => {
        forge.object({ name: `${ROOT}.p.${i}`, parent });
      }),
  },
  {
    name: 'an object of 100,000 variables goes and comes',
    make: (stage) =>
      comingAndGoing(stage, 1000, (forge, owner, i) => {
        forge.variable({ owner, name: `v${i}` });
      }),
  },
  {
    name: '1,500,000 roots that fit, in random order',
    make: (stage) => {
      const count = scaled(stage, 1_500_000);
      const forge = new Forge(stage.contextId, KEY, { records: count, stringBytes: 1 << 26 });
      for (let i = 0; i < count; i++)
        forge.object({ name: `h${stage.random.below(2 ** 31)}.${i}.evil` });
      forge.publish();
      return { forges: [forge], everyMs: 500, step: () => forge.notify() };
    },
  },
  {
    name: '1,500,000 roots that do not fit, and notifications',
    make: (stage) => {
      const count = scaled(stage, 1_500_000);
      const forge = new Forge(stage.contextId, KEY, { records: count, stringBytes: 1 << 26 });
      for (let i = 0; i < count; i++) forge.object({ name: `h.${i}.other` });
      forge.publish();
      return { forges: [forge], everyMs: 100, step: () => forge.notify() };
    },
  },
  {
    name: '20,000 histograms of 512 bounds',
    make: (stage) => {
      const count = scaled(stage, 20_000);
      const words = 4 + 512;
      const sizes = { records: count + 1, frameBytes: count * words * 8, stringBytes: 1 << 22 };
      const forge = new Forge(stage.contextId, KEY, sizes);
      const owner = forge.object({ name: ROOT });
      const schema = forge.string(floats(...Array.from({ length: 512 }, (_, i) => i + 1)));
      for (let i = 0; i < count; i++) {
        const at = i * words;
        forge.bytes.writeBigUInt64LE(1n, forge.layout.frames + at * 8);
        forge.bytes.writeBigUInt64LE(1n, forge.layout.frames + (at + words - 1) * 8);
        forge.variable({ owner, name: `h${i}`, type: 'histogram', schema, frame: [at, words] });
      }
      forge.publish();
      return { forges: [forge] };
    },
  },
  {
    name: 'a new directory without the 500,000 objects of the old',
    make: (stage) => {
      const forge = wide(stage, scaled(stage, 500_000), 1);
      const full = forge.records;
      forge.copyDirectory();
      return {
        forges: [forge],
        everyMs: 3000,
        step: (round) => {
          forge.flip(round % 2 === 0 ? 1 : full);
          forge.notify();
        },
      };
    },
  },
  {
    name: '960,000 long lines',
    make: (stage) => {
      const count = scaled(stage, 960);
      const forge = new Forge(stage.contextId, KEY, {
        ...{ records: 1 + count * 1001, stringBytes: 1 << 26 },
      });
      const root = forge.object({ name: ROOT });
      for (let i = 0; i < count; i++) {
        const name = `${ROOT}.${String(i).padStart(6, '0')}${'l'.repeat(900)}`;
        const owner = forge.object({ name, parent: root });
        for (let k = 0; k < 1000; k++) forge.variable({ owner, name: `v${k}` });
      }
      forge.publish();
      return { forges: [forge] };
    },
  },
  {
    name: '1,500,000 variables whose directory turns three times a second',
    make: (stage) => {
      const forge = wide(stage, scaled(stage, 1500), 1000);
      const full = forge.records;
      forge.copyDirectory();
      return {
        forges: [forge],
        everyMs: 333,
        step: () => {
          forge.flip(full);
          forge.notify();
        },
      };
    },
  },
  {
    name: 'four segments of a million objects and variables',
    keys: ['evil', 'evil2', 'evil3', 'evil4'],
    make: (stage) => ({
      forges: ['evil', 'evil2', 'evil3', 'evil4'].map((key) =>
        wide(stage, scaled(stage, 1_000_000), 1, key),
      ),
    }),
  },
  {
    name: 'labels of other lengths after each restart',
    make: (stage) => {
      const forges: Forge[] = [];
      const again = (round: number): void => {
        forges.pop()?.close();
        const count = scaled(stage, 100_000);
        const forge = new Forge(stage.contextId, KEY, {
          ...{ records: 1 + 2 * count, stringBytes: 1 << 27 },
        });
        const root = forge.object({ name: ROOT });
        for (let i = 0; i < count; i++) {
          const name = `${ROOT}.${'l'.repeat(100 + round * 111)}${i}`;
          forge.variable({ owner: forge.object({ name, parent: root }), name: 'v' });
        }
        forge.publish();
        forges.push(forge);
      };
      again(0);
      return {
        forges,
        everyMs: 3000,
        step: (round) => {
          if (round > 6) return;
          again(round + 1);
          forges[0]?.place();
        },
      };
    },
  },
  {
    name: 'cut to one page while it is served',
    endsInvalid: true,
    make: (stage) => {
      const forge = wide(stage, 1000, 10);
      const path = `/dev/shm/${segmentName(stage.contextId, 'pool', KEY)}`;
      return {
        forges: [forge],
        everyMs: 200,
        step: (round) => {
          if (round !== 0) return;
          const fd = openSync(path, 'r+');
          ftruncateSync(fd, 4096);
          closeSync(fd);
        },
      };
    },
  },
  {
    name: 'a million records of which the last is corrupt',
    endsInvalid: true,
    make: (stage) => {
      const count = scaled(stage, 1_000_000);
      const forge = wide(stage, count - 1, 0);
      const last = forge.layout.directories[0] + (forge.records - 1) * 64;
      forge.bytes.writeUInt32LE(0, last);
      return { forges: [forge] };
    },
  },
];
