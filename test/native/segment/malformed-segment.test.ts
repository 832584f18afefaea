// Tests the state and reason that a reader reports for segments that are damaged in one place.
import { expect } from 'chai';
import { HEADER, LIMITS, RECORD } from '#app/native/segment/layout.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { VALUE_TYPES } from '#app/published.js';
import { HeapMemory } from '../../support/heap-memory.js';
import {
  SAMPLE,
  SAMPLE_AT,
  SAMPLE_BYTES,
  alterHeader,
  alterRecord,
  alterWord,
  sampleSegment,
} from '../../support/sample-segment.js';
import { freshSegments } from '../../support/segments.js';

/** The number of value types. Their numbers begin at 1. */
const TYPES = Object.keys(VALUE_TYPES).length;

type Damage = readonly [what: string, damage: (bytes: Buffer) => void, reason: string | RegExp];

const u64 = (field: number, value: number | bigint) => (bytes: Buffer) =>
  alterHeader(bytes, (header) => void header.writeBigUInt64LE(BigInt(value), field));
const inRecord = (index: number, change: (record: Buffer) => void) => (bytes: Buffer) =>
  alterRecord(bytes, index, change);
const field32 = (index: number, field: number, value: number) =>
  inRecord(index, (record) => void record.writeUInt32LE(value, field));
const field64 = (index: number, field: number, value: bigint) =>
  inRecord(index, (record) => void record.writeBigUInt64LE(value, field));

const INCOMPATIBLE: readonly Damage[] = [
  [
    'another magic',
    (bytes) => void bytes.write('SHMEXP\n\n', 'latin1'),
    'its magic is 53484d4558500a0a, not 53484d4558500d0a',
  ],
  [
    'a magic whose bytes are all 0',
    (bytes) => void bytes.fill(0, 0, 8),
    'its magic is 0000000000000000, not 53484d4558500d0a',
  ],
  [
    'another byte order',
    (bytes) => void bytes.writeUInt32BE(0x01020304, HEADER.byteOrder),
    'its byte order mark is 0x4030201, allowed: 0x1020304',
  ],
  [
    'another major version, whatever bytes follow it',
    (bytes) => void bytes.writeUInt16LE(2, HEADER.major),
    'its version is 2, allowed: 1',
  ],
  [
    'a required feature that is unknown',
    u64(HEADER.requiredFeatures, 1n << 63n),
    'it requires the unknown features 0x8000000000000000',
  ],
  [
    'records of another size',
    (bytes) => alterHeader(bytes, (header) => void header.writeUInt32LE(128, HEADER.recordSize)),
    'its records have 128 bytes, allowed: 64',
  ],
];

const CORRUPT_HEADER: readonly Damage[] = [
  [
    'a header with a wrong CRC',
    (bytes) => void bytes.writeUInt32LE(0xdead, HEADER.crc),
    /^the header's CRC is 0000dead, but its bytes give [0-9a-f]+$/,
  ],
  [
    'a header with a flipped bit',
    (bytes) => void bytes.writeUInt8(1, HEADER.optionalFeatures),
    /^the header's CRC is [0-9a-f]+, but its bytes give [0-9a-f]+$/,
  ],
  [
    'a region that begins beyond the end of the file',
    u64(HEADER.frames, 40_960),
    `frames is 40960, allowed: at most ${SAMPLE_BYTES}`,
  ],
  [
    'a region that ends beyond the end of the file',
    u64(HEADER.slots, SAMPLE_BYTES),
    'slots at 32768 has 192 bytes, but the file has 32768',
  ],
  [
    'a region within the header page',
    u64(HEADER.words, 0),
    'words at 0 has 96 bytes, but the file has 32768',
  ],
  [
    'a region that does not begin at the start of a page',
    u64(HEADER.stringsB, 8200),
    'strings B at 8200 has 2048 bytes, but the file has 32768',
  ],
  [
    'a region with an offset that overflows',
    u64(HEADER.directoryB, (1n << 64n) - 4096n),
    'directory B is 18446744073709547520, allowed: at most 32768',
  ],
  ...(
    [
      ['recordCapacity', 'record capacity', LIMITS.records],
      ['stringCapacity', 'string capacity', LIMITS.stringRegionBytes],
      ['slotCapacity', 'slot capacity', LIMITS.slots],
      ['frameCapacity', 'frame capacity', LIMITS.frameRegionBytes],
    ] as const
  ).flatMap(([field, name, most]): Damage[] => [
    [
      `a huge ${name}`,
      u64(HEADER[field], most + 1),
      `${name} is ${most + 1}, allowed: at most ${most}`,
    ],
    [
      `a ${name} too large for the file`,
      u64(HEADER[field], most),
      / has \d+ bytes, but the file has 32768$/,
    ],
  ]),
];

const CORRUPT_WORDS: readonly Damage[] = [
  [
    'a directory with more records than its capacity',
    (bytes) => alterWord(bytes, 'directory', 17n),
    'the directory states 17 records, but has room for 16',
  ],
  [
    'a string region with more bytes than its capacity',
    (bytes) => alterWord(bytes, 'stringBytesA', 2049n),
    'the directory states 2049 string bytes, but the region has 2048',
  ],
  [
    'a string region with fewer valid bytes than its strings need',
    (bytes) => alterWord(bytes, 'stringBytesA', 2n),
    'a string at 2 lies outside the 2 valid string bytes',
  ],
  [
    'a switch to a directory that has no valid records',
    (bytes) => alterWord(bytes, 'directory', (1n << 32n) | 1n),
    /^record 0: its CRC is 00000000, but its bytes give [0-9a-f]+$/,
  ],
];

const { root, child, counter, text, histogram, summary, tombstone } = SAMPLE;
const CORRUPT_RECORDS: readonly Damage[] = [
  [
    'a record with a wrong CRC',
    (bytes) => void bytes.writeUInt8(3, SAMPLE_AT.directory + 64 + RECORD.recordKind),
    /^record 1: its CRC is [0-9a-f]+, but its bytes give [0-9a-f]+$/,
  ],
  [
    'a record that was never written',
    (bytes) => alterWord(bytes, 'directory', 9n),
    /^record 8: its CRC is 00000000, but its bytes give [0-9a-f]+$/,
  ],
  [
    'a record with the index of another record',
    field32(child, RECORD.index, 5),
    'record 1: it states the record number 5, allowed: 1',
  ],
  [
    'a record of unknown kind',
    inRecord(child, (record) => void record.writeUInt8(4, RECORD.recordKind)),
    'record 1: its kind is 4, allowed: 1 to 3',
  ],
  ['a repeated id', field64(text, RECORD.id, 3n), 'id 3 follows id 3, but ids must ascend'],
  [
    'ids that do not ascend',
    field64(text, RECORD.id, 1n),
    'id 1 follows id 3, but ids must ascend',
  ],
  ['an id of 0', field64(root, RECORD.id, 0n), 'id 0 follows id 0, but ids must ascend'],
  [
    'an id of 2^53',
    field64(counter, RECORD.id, 1n << 53n),
    'record 2: its id 9007199254740992 is beyond 2^53',
  ],
  [
    'a tombstone for an id of 2^64 - 1',
    field64(tombstone, RECORD.owner, (1n << 64n) - 1n),
    'record 7: its id 18446744073709551615 is beyond 2^53',
  ],
  [
    'an unknown parent',
    field64(child, RECORD.owner, 9n),
    'object 2 has the parent 9, which does not exist',
  ],
  [
    'an object below itself',
    field64(child, RECORD.owner, 2n),
    'object 2 has the parent 2, which does not exist',
  ],
  [
    'a cycle of a root and its child',
    field64(root, RECORD.owner, 2n),
    'object 1 has the parent 2, which does not exist',
  ],
  [
    'a variable of an unknown object',
    field64(counter, RECORD.owner, 77n),
    'variable 3 belongs to object 77, which does not exist',
  ],
  [
    'a variable of a variable',
    field64(text, RECORD.owner, 3n),
    'variable 4 belongs to object 3, which does not exist',
  ],
  [
    'a slot beyond the slot capacity',
    field32(counter, RECORD.slot, 24),
    'record 2: its slot is 24, allowed: less than 24',
  ],
  [
    'a slot for the as-of time beyond the slot capacity',
    field32(root, RECORD.extra1, 0xfffffffe),
    'record 0: its slot is 4294967294, allowed: less than 24',
  ],
  [
    'a value type of 0',
    inRecord(counter, (record) => void record.writeUInt8(0, RECORD.type)),
    `record 2: its value type is 0, allowed: 1 to ${TYPES}`,
  ],
  [
    'a value type above the highest known type',
    inRecord(counter, (record) => void record.writeUInt8(1 + TYPES, RECORD.type)),
    `record 2: its value type is ${1 + TYPES}, allowed: 1 to ${TYPES}`,
  ],
  [
    'an unknown variable kind',
    inRecord(counter, (record) => void record.writeUInt8(3, RECORD.kind)),
    'record 2: its variable kind is 3, allowed: 0 to 2',
  ],
  [
    'a frame that ends beyond its region',
    field32(text, RECORD.text4, 251),
    'record 3: its frame at 2008 ends beyond the frame region of 2048 bytes',
  ],
  [
    'a frame whose end overflows',
    field32(text, RECORD.text4, 0xffffffff),
    'record 3: its frame at 34359738360 ends beyond the frame region of 2048 bytes',
  ],
  [
    'a text frame without space for its length',
    field32(text, RECORD.extra1, 2),
    'record 3: its frame has 2 units, allowed: 3 to 8194',
  ],
  [
    'a histogram frame that does not fit its bounds',
    field32(histogram, RECORD.extra1, 8),
    'record 4: its frame has 8 units, allowed: 7 to 7',
  ],
  [
    'a huge frame',
    field32(summary, RECORD.extra1, 0xffffffff),
    'record 5: its frame has 4294967295 units, allowed: 6 to 6',
  ],
  [
    'a string beyond its region',
    field32(counter, RECORD.name, 0xfffffff0),
    /^a string at 4294967280 lies outside the \d+ valid string bytes$/,
  ],
  [
    'a schema whose size is not a multiple of the size of a float',
    field32(histogram, RECORD.text3, 2),
    'record 4: its schema is not a list of ascending, finite numbers',
  ],
  [
    'a schema that does not ascend',
    (bytes) => stateSchema(bytes, histogram, [0.5, 1, 1]),
    'record 4: its schema is not a list of ascending, finite numbers',
  ],
  [
    'a schema with values that are not numbers',
    (bytes) => stateSchema(bytes, histogram, [0.5, Number.NaN, 1]),
    'record 4: its schema is not a list of ascending, finite numbers',
  ],
  [
    'a bound of +Inf, because each histogram already has a bucket for +Inf',
    (bytes) => stateSchema(bytes, histogram, [0.5, 1, Infinity]),
    'record 4: its schema is not a list of ascending, finite numbers',
  ],
  [
    'a bound of -Inf',
    (bytes) => stateSchema(bytes, histogram, [-Infinity, 1, 2]),
    'record 4: its schema is not a list of ascending, finite numbers',
  ],
  [
    'a quantile beyond 1',
    (bytes) => stateSchema(bytes, summary, [0.5, 1.5]),
    'record 5: its quantiles are not between 0 and 1',
  ],
];

const lengthAt = (bytes: Buffer, index: number, field: number) =>
  SAMPLE_AT.strings + bytes.readUInt32LE(SAMPLE_AT.directory + index * 64 + field);

function stateSchema(bytes: Buffer, index: number, entries: readonly number[]): void {
  const at = lengthAt(bytes, index, RECORD.text3) + 2;
  entries.forEach((entry, i) => bytes.writeDoubleLE(entry, at + i * 8));
}

const CORRUPT_STRINGS: readonly Damage[] = [
  [
    'a text without an end',
    (bytes) => void bytes.writeUInt16LE(0xffff, lengthAt(bytes, child, RECORD.name)),
    /^a string at \d+ has 65535 bytes, allowed: at most 1024; \d+ bytes remain for it$/,
  ],
  [
    'a text that reaches beyond the valid strings',
    (bytes) => void bytes.writeUInt16LE(900, lengthAt(bytes, child, RECORD.name)),
    /^a string at \d+ has 900 bytes, allowed: at most 1024; \d+ bytes remain for it$/,
  ],
  [
    'a text longer than the format allows',
    (bytes) => {
      alterWord(bytes, 'stringBytesA', 2048n);
      bytes.writeUInt16LE(1025, lengthAt(bytes, child, RECORD.name));
    },
    /^a string at \d+ has 1025 bytes, allowed: at most 1024; \d+ bytes remain for it$/,
  ],
  [
    'a unit longer than the format allows',
    (bytes) => {
      alterWord(bytes, 'stringBytesA', 2048n);
      bytes.writeUInt16LE(65, lengthAt(bytes, counter, RECORD.text1));
    },
    /^a string at \d+ has 65 bytes, allowed: at most 64; \d+ bytes remain for it$/,
  ],
  [
    'a unit that refers to a valid name, but is too long for a unit',
    (bytes) => {
      alterWord(bytes, 'stringBytesA', 2048n);
      const at = bytes.readUInt32LE(SAMPLE_AT.directory + counter * 64 + RECORD.name);
      bytes.writeUInt16LE(65, SAMPLE_AT.strings + at);
      field32(text, RECORD.text1, at)(bytes);
    },
    /^a string at \d+ has 65 bytes, allowed: at most 64; \d+ bytes remain for it$/,
  ],
  [
    'a schema of more than 512 entries',
    (bytes) => {
      alterWord(bytes, 'stringBytesA', 2048n);
      bytes.writeUInt16LE(4104, lengthAt(bytes, histogram, RECORD.text3));
    },
    /^a string at \d+ has 4104 bytes, allowed: at most 4096; \d+ bytes remain for it$/,
  ],
];

const sample = sampleSegment();

function watchOver(damage: (bytes: Buffer) => void) {
  const bytes = Buffer.from(sample);
  damage(bytes);
  const memory = new HeapMemory();
  const segment = memory.put('82', bytes);
  return { memory, segment, poller: new SegmentPoller(memory, '82', '82', { nowNs: () => 1n }) };
}

function describeDamages(kind: string, state: string, lead: string, damages: readonly Damage[]) {
  describe(kind, () => {
    for (const [what, damage, reason] of damages)
      it(`is ${state}: ${what}`, () => {
        const { memory, poller } = watchOver(damage);
        const { publisher, source, changes } = poller.poll();
        expect(publisher.state).to.equal(state);
        if (typeof reason === 'string') expect(publisher.reason).to.equal(`${lead}: ${reason}`);
        else expect(publisher.reason.replace(`${lead}: `, '')).to.match(reason);
        expect(source).to.equal(undefined);
        expect(changes).to.deep.equal([]);
        expect(memory.openFiles, 'files left open').to.equal(0);
      });
  });
}

const ANOTHER = 'Segment is of another format';
const CORRUPT = 'Segment is corrupt';
describe('A segment (segment format, section 2)', () => {
  const segments = freshSegments();

  it('is live if it is undamaged', () => {
    expect(watchOver(() => undefined).poller.poll().publisher.state).to.equal('live');
  });

  describeDamages('of another format', 'incompatible', ANOTHER, INCOMPATIBLE);
  describeDamages('with a damaged header', 'corrupt', CORRUPT, CORRUPT_HEADER);
  describeDamages('with damaged words', 'corrupt', CORRUPT, CORRUPT_WORDS);
  describeDamages('with a damaged record', 'corrupt', CORRUPT, CORRUPT_RECORDS);
  describeDamages('with a damaged string', 'corrupt', CORRUPT, CORRUPT_STRINGS);

  it('is corrupt if its state is unknown', () => {
    for (const state of [4n, (1n << 32n) + 1n]) {
      const { poller } = watchOver((bytes) => alterWord(bytes, 'state', state));
      const reason = `segment is corrupt: its state is ${state}`;
      expect(poller.poll().publisher).to.deep.equal({ state: 'corrupt', reason });
    }
  });

  it('is live with 64 objects on a path, and corrupt with 65', () => {
    const publisher = segments.publish('deep', { capacity: { records: 100 }, heartbeatMs: 0 });
    let object = publisher.addRoot('o', 'C');
    for (let depth = 2; depth < 64; depth++)
      object = publisher.addObject(object, `${object.name}.o`, 'C');
    publisher.addObject(object, `${object.name}.o`, 'C');
    publisher.addObject(object, `${object.name}.p`, 'C');
    const verdictOn = (parent: bigint) => {
      const bytes = segments.bytes('deep');
      field64(64, RECORD.owner, parent)(bytes);
      const memory = new HeapMemory();
      memory.put('deep', bytes);
      return new SegmentPoller(memory, 'deep', 'deep', { nowNs: () => 1n }).poll().publisher;
    };
    expect(verdictOn(63n).state).to.equal('live');
    const reason = 'Segment is corrupt: object 65 is too deep below its root';
    expect(verdictOn(64n)).to.deep.equal({ state: 'corrupt', reason });
  });

  describe('that is truncated', () => {
    const LENGTHS = [
      [0, 'the header has 0 of 256 bytes'],
      [7, 'the header has 7 of 256 bytes'],
      [8, 'the header has 8 of 256 bytes'],
      [255, 'the header has 255 of 256 bytes'],
      [256, 'directory A is 4096, allowed: at most 256'],
      [4095, 'directory A is 4096, allowed: at most 4095'],
      [4096, 'directory A at 4096 has 1024 bytes, but the file has 4096'],
      [9000, 'directory B is 12288, allowed: at most 9000'],
      [30_000, 'frames at 28672 has 2048 bytes, but the file has 30000'],
    ] as const;
    for (const [length, reason] of LENGTHS)
      it(`to ${length} bytes is corrupt`, () => {
        const { segment, poller } = watchOver(() => undefined);
        segment.truncate(length);
        const { publisher } = poller.poll();
        expect(publisher.state).to.equal('corrupt');
        expect(publisher.reason).to.equal(`Segment is corrupt: ${reason}`);
      });

    it('to any length at any read is either live or corrupt', () => {
      const states = new Map<string, number>();
      for (let length = 0; length <= SAMPLE_BYTES; length += 128)
        for (let moment = 1; moment <= 8; moment++) {
          const { segment, poller } = watchOver(() => undefined);
          segment.beforeRead = () => {
            if (segment.reads + 1 >= moment) segment.truncate(length);
          };
          const { state } = poller.poll().publisher;
          states.set(state, (states.get(state) ?? 0) + 1);
        }
      expect([...states.keys()].sort()).to.deep.equal(['corrupt', 'live']);
    });
  });
});
