// Tests deviations from the format that readers tolerate, and copies at inconsistent moments.
import { expect } from 'chai';
import {
  HEADER,
  MUTABLE,
  MUTABLE_OFFSET,
  RECORD,
  RECORD_SIZE,
} from '#app/native/segment/layout.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { HeapMemory } from '../../support/heap-memory.js';
import type { HeapSegment } from '../../support/heap-memory.js';
import {
  SAMPLE,
  SAMPLE_AT,
  alterHeader,
  alterRecord,
  alterWord,
  sampleSegment,
} from '../../support/sample-segment.js';
import { freshSegments } from '../../support/segments.js';

const sample = sampleSegment();

function verdictOn(bytes: Uint8Array, prepare: (segment: HeapSegment) => void = () => undefined) {
  const memory = new HeapMemory();
  prepare(memory.put('82', bytes));
  return new SegmentPoller(memory, '82', '82', { nowNs: () => 1n }).poll();
}

const TOLERATED: readonly (readonly [string, (bytes: Buffer) => void])[] = [
  ['a generation of 0', (bytes) => alterHeader(bytes, (h) => h.fill(0, HEADER.generation, 48))],
  ['another header size', (bytes) => alterHeader(bytes, (h) => h.writeUInt32LE(8192, 16))],
  ['another file size', (bytes) => alterHeader(bytes, (h) => h.writeBigUInt64LE(1n, 80))],
  [
    'bytes of the header that have no meaning',
    (bytes) => alterHeader(bytes, (h) => h.fill(7, 180)),
  ],
  [
    'regions that overlap',
    (bytes) => alterHeader(bytes, (h) => h.writeBigUInt64LE(4096n, HEADER.directoryB)),
  ],
  [
    'too many string bytes in the inactive string region',
    (bytes) => alterWord(bytes, 'stringBytesB', (1n << 64n) - 1n),
  ],
  [
    'a name that is not UTF-8',
    (bytes) => bytes.fill(0xff, nameAt(bytes, SAMPLE.child) + 2, nameAt(bytes, SAMPLE.child) + 4),
  ],
  [
    'a text variable that has a kind',
    (bytes) => alterRecord(bytes, SAMPLE.text, (record) => record.writeUInt8(1, RECORD.kind)),
  ],
  [
    'an incarnation of 0',
    (bytes) => alterRecord(bytes, SAMPLE.counter, (r) => r.writeUInt32LE(0, RECORD.incarnation)),
  ],
  [
    'a tombstone for an unknown id',
    (bytes) => alterRecord(bytes, SAMPLE.tombstone, (r) => r.writeUInt32LE(77, RECORD.owner)),
  ],
  [
    'an id that does not begin with the id of its parent',
    (bytes) => bytes.write('x', nameAt(bytes, SAMPLE.child) + 2),
  ],
];

const nameAt = (bytes: Buffer, index: number): number =>
  SAMPLE_AT.strings + bytes.readUInt32LE(SAMPLE_AT.directory + index * RECORD_SIZE + RECORD.name);

describe('A segment', () => {
  for (const [what, alter] of TOLERATED)
    it(`with ${what} is served`, () => {
      const bytes = Buffer.from(sample);
      alter(bytes);
      const { publisher, changes } = verdictOn(bytes);
      expect(publisher).to.deep.equal({ state: 'live', reason: 'publisher is live' });
      expect(changes.length).to.be.at.least(7);
    });
});

describe('A valid publisher is live', () => {
  const segments = freshSegments();

  it('even if a reader copies the directory later than its string bytes', () => {
    const publisher = segments.publish('82', { heartbeatMs: 0 });
    publisher.addRoot('h.1.ads', 'Ads');
    const before = segments.bytes('82');
    publisher.addRoot('h.2.ads', 'Another class');
    const now = segments.bytes('82');
    const at = MUTABLE_OFFSET + MUTABLE.stringBytesA;
    expect(before.readUInt32LE(at)).to.be.below(now.readUInt32LE(at));
    const { publisher: verdict, changes } = verdictOn(now, (segment) => {
      const read = segment.read.bind(segment);
      segment.read = (into, length, position) => {
        const found = read(into, length, position);
        // A copy of several bytes may mix bytes of different moments, because the order of its reads is not defined.
        if (length > 8 && position <= at && at + 8 <= position + found)
          into.set(before.subarray(at, at + 8), at - position);
        return found;
      };
    });
    expect(verdict.state, verdict.reason).to.equal('live');
    expect(changes.length).to.equal(2);
  });
});
