// Tests futex waits: one call on one thread waits for many publishers, and returns when one of them notifies.
import { expect } from 'chai';
import { closeSync, openSync } from 'node:fs';
import { hrtime } from 'node:process';
import { MUTABLE, MUTABLE_OFFSET, PAGE } from '#app/native/segment/layout.js';
import { canWaitOnFutexes, futexWaitAny, map } from '#app/native/os/libc.js';
import type { FutexWait } from '#app/native/os/libc.js';
import type { Mapping } from '#app/native/os/publisher-os.js';
import { freshChildren } from '../../support/children.js';
import { freshSegments } from '../../support/segments.js';
import { needs } from '../../support/needs.js';

const SECOND = 1_000_000_000n;

/** Resolves with the milliseconds that a wait of at most `timeoutNs` took. */
function wait(waits: readonly FutexWait[], timeoutNs: bigint): Promise<number> {
  const from = hrtime.bigint();
  return new Promise((resolve) => {
    futexWaitAny(waits, from, timeoutNs, () => resolve(Number(hrtime.bigint() - from) / 1e6));
  });
}

describe('A reader that waits on the futex words of segments (segment format, section 10)', () => {
  const children = freshChildren();
  const segments = freshSegments();
  const pages: Mapping[] = [];
  afterEach(() => pages.splice(0).forEach((page) => page.unmap()));
  const waitOn = (serverKey: string): FutexWait => {
    const { notifications } = segments.poller(serverKey).poll();
    const fd = openSync(segments.path(serverKey), 'r');
    const page = map(fd, PAGE, 'read');
    closeSync(fd);
    pages.push(page);
    const at = MUTABLE_OFFSET + MUTABLE.notifications;
    return { word: page.bytes.subarray(at, at + 4), expected: notifications };
  };

  before('the kernel lets this process wait on several words', function () {
    needs(this, canWaitOnFutexes(), 'the kernel has no futex_waitv');
  });

  it('wakes when a publisher in another process notifies', async () => {
    await children.go(await children.ready('churning-publisher', segments.contextId, '82'));
    segments.publish('83');
    expect(await wait([waitOn('83'), waitOn('82')], 120n * SECOND)).to.be.below(60_000);
  });

  it('wakes when a publisher in its own process notifies', async () => {
    const publisher = segments.publish('82');
    const waiting = wait([waitOn('82')], 120n * SECOND);
    setTimeout(() => publisher.notify(), 30);
    expect(await waiting).to.be.within(20, 60_000);
  });

  it('wakes when the publisher closes its segment', async () => {
    const publisher = segments.publish('82');
    const waiting = wait([waitOn('82')], 120n * SECOND);
    setTimeout(() => publisher.close(), 30);
    expect(await waiting).to.be.within(20, 60_000);
  });

  it('returns at once when the futex word has already changed', async () => {
    const publisher = segments.publish('82');
    const before = waitOn('82');
    publisher.notify();
    expect(await wait([before], 120n * SECOND)).to.be.below(60_000);
  });

  it('returns after its timeout when no futex word changes', async () => {
    segments.publish('82');
    expect(await wait([waitOn('82')], SECOND / 20n)).to.be.within(49, 60_000);
  });

  it('waits for 128 segments in one call', async () => {
    const publisher = segments.publish('82');
    const waits = Array.from({ length: 127 }, () => waitOn('82'));
    segments.publish('83');
    const waiting = wait([waitOn('83'), ...waits], 120n * SECOND);
    setTimeout(() => publisher.notify(), 30);
    expect(await waiting).to.be.within(20, 60_000);
  });
});
