// What a thread sent to a target that has ended by the time it arrives: answers and stops cross.
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { map } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { headerOf } from '#app/exposition/text/text-syntax.js';
import { posixMemory } from '#app/native/os/posix.js';
import { unknownFacts } from '#app/streams/report.js';
import type { FromThread, SentSnapshot } from '#app/targets/threads/messages.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';

/** A thread that says what the test has it say. */
class Puppet extends EventEmitter {
  postMessage(): void {
    // It does what the test says.
  }
  terminate(): void {
    this.removeAllListeners();
  }
  answer(target: number, snapshot: SentSnapshot): void {
    const counted = { refreshesMs: [], counts: newCounters() };
    const shown = { facts: unknownFacts('82'), hasRendered: true, isDirty: false };
    const report = { kind: 'refreshed', snapshot, ...shown, ...counted } as const;
    this.emit('message', { kind: 'report', target, report } satisfies FromThread);
  }
}

const FACTS = { name: 'x', type: 'gauge', unit: '', help: '' } as const;

/** A snapshot of one family and one piece, whose lines are that long. */
const sent = (at: number, length: number, memory?: SharedArrayBuffer): SentSnapshot => ({
  holders: new Int32Array(new SharedArrayBuffer(4)).fill(1),
  text: {
    facts: [FACTS],
    spans: Uint32Array.of(0, at, at + headerOf(FACTS).bytes + length),
    bytes: length,
    series: 1,
    forms: { text: true, deflated: false },
    hasForbidden: false,
  },
  memory,
});

describe('text that a thread sent to a target that has ended', () => {
  const stage = () => {
    const puppet = new Puppet();
    const partition = new ThreadedPartition(
      { number: 0, contextId: 'none', poolName: 'pool' },
      posixMemory(),
      () => puppet,
    );
    const host = () => {
      const hosted = partition.host(definitionOf());
      const texts$ = hosted.report$.pipe(
        map((report) =>
          'snapshot' in report
            ? report.snapshot?.families.flatMap(({ pieces }) => pieces.map(String))
            : undefined,
        ),
      );
      return follow(texts$);
    };
    return { puppet, host };
  };

  it('has no holder, so that the thread can use its memory again', () => {
    const { puppet, host } = stage();
    host().subscription.unsubscribe();
    const snapshot = sent(0, 5, new SharedArrayBuffer(64));
    puppet.answer(1, snapshot);
    expect([...snapshot.holders]).to.deep.equal([0]);
  });

  it('still shows the memory that the others write in', () => {
    const { puppet, host } = stage();
    const ended = host();
    const { seen, subscription } = host();
    ended.subscription.unsubscribe();
    const memory = new SharedArrayBuffer(128);
    Buffer.from(memory).write(`${headerOf(FACTS).text}hello`, 50);
    puppet.answer(1, sent(0, 5, memory));
    puppet.answer(2, sent(50, 5));
    expect(seen).to.deep.equal([['hello']]);
    subscription.unsubscribe();
  });
});
