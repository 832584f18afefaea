// Fuzz test: a poll of a randomly damaged segment makes a bounded number of reads, and never throws.
import { expect } from 'chai';
import fc from 'fast-check';
import { env } from 'node:process';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { applyMutations, pollDamaged } from '../../support/poll-damaged.js';
import { HeapMemory } from '../../support/heap-memory.js';
import { mutation } from '../../support/mutations.js';
import { sampleSegment } from '../../support/sample-segment.js';

const CASES = Number(env['FUZZ_CASES'] ?? 2000);

const sample = sampleSegment();

describe('A reader of a randomly damaged segment (segment format, section 2)', () => {
  it(`reaches a verdict with a bounded number of reads in each of ${CASES} cases`, () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (mutations) => {
        for (const { state } of pollDamaged(sample, mutations)) seen.add(state);
      }),
      { numRuns: CASES },
    );
    expect([...seen]).to.include.members(['corrupt', 'incompatible', 'live']);
  }).timeout(600_000);

  it('reports a failed check as the reason, never an internal error', () => {
    const reasons = new Set<string>();
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
        const memory = new HeapMemory();
        applyMutations(memory.put('82', sample), mutations);
        const { publisher } = new SegmentPoller(memory, '82', '82', { nowNs: () => 1n }).poll();
        if (publisher.state !== 'corrupt') return;
        expect(publisher.reason).to.match(/^[Ss]egment is corrupt: /);
        reasons.add(publisher.reason.replace(/[0-9a-f]*[0-9][0-9a-f]*/g, 'N'));
      }),
      { numRuns: CASES },
    );
    expect(reasons.size, 'different reasons').to.be.above(15);
  });
});
