// Random damage at random moments: looking at it costs a bounded number of reads, and never throws.
import { expect } from 'chai';
import fc from 'fast-check';
import { env } from 'node:process';
import { PUBLISHER_STATES } from '#app/model.js';
import type { ManagedObject, Variable } from '#app/model.js';
import { SegmentWatch } from '#app/native/segment/segment-watch.js';
import type { Sighting } from '#app/streams/watch.js';
import { HeapMemory } from '../../support/heap-memory.js';
import type { HeapSegment } from '../../support/heap-memory.js';
import { mutation } from '../../support/mutations.js';
import type { Mutation } from '../../support/mutations.js';
import { readTree } from '../../support/read-tree.js';
import { SAMPLE_BYTES, SAMPLE_CAPACITY, sampleSegment } from '../../support/sample-segment.js';

const CASES = Number(env['FUZZ_CASES'] ?? 20_000);
/** One header, the words, and five attempts of four reads each. */
const MAX_READS_A_LOOK = 22;
const MAX_READS_A_FRAME = 10;

const sample = sampleSegment();

/** Damages the segment at the moments that the mutations name, counted in reads. */
function arm(segment: HeapSegment, mutations: readonly Mutation[]): void {
  const strike = (moment: number) => {
    for (const { moment: due, damage } of mutations) if (due === moment) damage(segment);
  };
  strike(0);
  segment.beforeRead = () => strike(segment.reads + 1);
}

const variablesOf = ({ variables, children }: ManagedObject): Variable[] => [
  ...variables,
  ...[...children].flatMap(variablesOf),
];

function checkSource({ source }: Sighting, segment: HeapSegment): void {
  if (source === undefined) return;
  const variables = [...source.roots].flatMap(variablesOf);
  expect(variables.length).to.be.at.most(SAMPLE_CAPACITY.records);
  const before = segment.reads;
  for (const variable of variables) {
    const frame = source.readFrame(variable);
    if (frame?.type === 'histogram')
      expect(frame.counts.length).to.equal(variable.schema.length + 1);
    if (frame?.type === 'summary') expect(frame.values.length).to.equal(variable.schema.length);
    if (frame?.type === 'string') expect(frame.text.length).to.be.at.most(SAMPLE_BYTES);
  }
  expect(segment.reads - before).to.be.at.most(variables.length * MAX_READS_A_FRAME);
  readTree(source, SAMPLE_CAPACITY.slots * 2);
}

describe('nothing in a segment can crash, hang or bloat the reader: any bytes (segment 2)', () => {
  it(`looks ${CASES} times at damage and always gives a verdict, with bounded reads`, () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (mutations) => {
        const memory = new HeapMemory();
        const segment = memory.put('82', sample);
        let nowNs = 1n;
        const watch = new SegmentWatch(memory, '82', '82', { now: () => nowNs });
        arm(segment, mutations);
        for (let look = 0; look < 3; look++) {
          [segment.reads, segment.bytesAsked] = [0, 0];
          const sighting = watch.look();
          const { state, reason } = sighting.publisher;
          seen.set(state, (seen.get(state) ?? 0) + 1);
          expect(PUBLISHER_STATES).to.include(state);
          expect(reason).to.match(/^[^\n]{1,200}$/);
          expect(segment.reads).to.be.at.most(MAX_READS_A_LOOK);
          expect(segment.bytesAsked).to.be.at.most(MAX_READS_A_LOOK * 1024 + 5 * SAMPLE_BYTES);
          checkSource(sighting, segment);
          nowNs += 1_500_000_000n;
        }
        watch.close();
        expect(memory.openFiles).to.equal(0);
      }),
      { numRuns: CASES },
    );
    expect([...seen.keys()].sort()).to.include.members([
      ...['closed', 'corrupt', 'incompatible', 'live', 'superseded'],
    ]);
  }).timeout(600_000);

  it('gives the reason of a check that failed, never of a slip of the reader', () => {
    const reasons = new Set<string>();
    const fewer = { numRuns: Math.min(CASES, 5000) };
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
        const memory = new HeapMemory();
        arm(memory.put('82', sample), mutations);
        const { publisher } = new SegmentWatch(memory, '82', '82', { now: () => 1n }).look();
        if (publisher.state !== 'corrupt') return;
        expect(publisher.reason).to.match(/^[Ss]egment is corrupt: /);
        reasons.add(publisher.reason.replace(/[0-9a-f]*[0-9][0-9a-f]*/g, 'N'));
      }),
      fewer,
    );
    expect(reasons.size, 'different reasons').to.be.above(15);
  });
});
