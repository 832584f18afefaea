// What a thread lent to a target that has ended by the time it arrives: answers and stops cross.
import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { map } from 'rxjs';
import { headerOf } from '#app/exposition/text/header-text.js';
import { posixMemory } from '#app/native/os/posix.js';
import { NOTHING_COUNTED, unknownFacts } from '#app/streams/target-facts.js';
import { NEW_FAMILY } from '#app/targets/threads/messages.js';
import type { FromThread, Lent, ToThread } from '#app/targets/threads/messages.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';

/** A thread that says what the test has it say. */
class Puppet extends EventEmitter {
  readonly heard: ToThread[] = [];
  postMessage(message: ToThread): void {
    this.heard.push(message);
  }
  terminate(): void {
    this.removeAllListeners();
  }
  answer(target: number, snapshot: Lent): void {
    const counted = NOTHING_COUNTED;
    const news = { facts: unknownFacts('82'), counted, hasRendered: true, isDirty: false };
    const report = { kind: 'refreshed', snapshot, ...news } as const;
    this.emit('message', { kind: 'report', target, report } satisfies FromThread);
  }
}

const FACTS = { name: 'x', type: 'gauge', unit: '', help: '' } as const;

/** A snapshot of one family and one piece, whose lines are that long. */
const lent = (id: number, at: number, length: number, memory?: SharedArrayBuffer): Lent => ({
  id,
  text: {
    places: Int32Array.of(NEW_FAMILY),
    facts: [FACTS],
    spans: Uint32Array.of(0, at, at + headerOf(FACTS).bytes + length),
    bytes: length,
    series: 1,
    forms: { text: true, deflated: false },
    hasForbidden: false,
  },
  memory,
});

describe('text that a thread lent to a target that has ended', () => {
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
    const givenBack = () => puppet.heard.filter(({ kind }) => kind === 'given-back');
    return { puppet, host, givenBack };
  };

  it('is given back, so that the thread can use its memory again', () => {
    const { puppet, host, givenBack } = stage();
    host().subscription.unsubscribe();
    puppet.answer(1, lent(7, 0, 5, new SharedArrayBuffer(64)));
    puppet.answer(1, { id: 7, text: undefined, memory: undefined });
    expect(givenBack()).to.deep.equal([
      { kind: 'given-back', snapshot: 7, times: 1 },
      { kind: 'given-back', snapshot: 7, times: 1 },
    ]);
  });

  it('still shows the memory that the others write in', () => {
    const { puppet, host } = stage();
    const ended = host();
    const { seen, subscription } = host();
    ended.subscription.unsubscribe();
    const memory = new SharedArrayBuffer(128);
    Buffer.from(memory).write(`${headerOf(FACTS).text}hello`, 50);
    puppet.answer(1, lent(7, 0, 5, memory));
    puppet.answer(2, lent(8, 50, 5));
    expect(seen).to.deep.equal([['hello']]);
    subscription.unsubscribe();
  });
});
