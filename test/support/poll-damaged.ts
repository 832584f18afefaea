// Polls a segment while it is damaged: each poll must return a status after a bounded number of reads.
import { expect } from 'chai';
import { PUBLISHER_STATES } from '#app/model.js';
import type { ManagedObject, Variable } from '#app/model.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import type { PollResult } from '#app/streams/poller.js';
import { HeapMemory } from './heap-memory.js';
import type { HeapSegment } from './heap-memory.js';
import type { Mutation } from './mutations.js';
import { readTree } from './read-tree.js';
import { SAMPLE_BYTES, SAMPLE_CAPACITY } from './sample-segment.js';

/** One read of the header, one of the words, and five attempts to read the directory with four reads each. */
const MAX_READS_PER_POLL = 22;
const MAX_READS_PER_FRAME = 10;
const POLLS = 3;

/** Applies each mutation before the read whose number is its `moment`. */
export function applyMutations(segment: HeapSegment, mutations: readonly Mutation[]): void {
  const applyAt = (moment: number) => {
    for (const { moment: due, damage } of mutations) if (due === moment) damage(segment);
  };
  applyAt(0);
  segment.beforeRead = () => applyAt(segment.reads + 1);
}

/**
 * Polls a damaged copy of the sample and returns the publisher status of each poll. Fails if a poll exceeds a
 * limit.
 */
export function pollDamaged(
  sample: Uint8Array,
  mutations: readonly Mutation[],
): PollResult['publisher'][] {
  const memory = new HeapMemory();
  const segment = memory.put('82', sample);
  let nowNs = 1n;
  const poller = new SegmentPoller(memory, '82', '82', { nowNs: () => nowNs });
  applyMutations(segment, mutations);
  const statuses: PollResult['publisher'][] = [];
  for (let poll = 0; poll < POLLS; poll++) {
    [segment.reads, segment.bytesAsked] = [0, 0];
    const pollResult = poller.poll();
    const { state, reason } = pollResult.publisher;
    statuses.push(pollResult.publisher);
    expect(PUBLISHER_STATES).to.include(state);
    expect(reason).to.match(/^[^\n]{1,200}$/);
    expect(segment.reads).to.be.at.most(MAX_READS_PER_POLL);
    expect(segment.bytesAsked).to.be.at.most(MAX_READS_PER_POLL * 1024 + 5 * SAMPLE_BYTES);
    checkSource(pollResult, segment);
    nowNs += 1_500_000_000n;
  }
  poller.close();
  expect(memory.openFiles).to.equal(0);
  return statuses;
}

const variablesOf = ({ variables, children }: ManagedObject): Variable[] => [
  ...variables,
  ...[...children].flatMap(variablesOf),
];

function checkSource({ source }: PollResult, segment: HeapSegment): void {
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
  expect(segment.reads - before).to.be.at.most(variables.length * MAX_READS_PER_FRAME);
  readTree(source, SAMPLE_CAPACITY.slots * 2);
}
