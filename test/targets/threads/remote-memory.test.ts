// Tests FileProxy, which checks locks and waits on futexes for a worker thread.
import { expect } from 'chai';
import { Fault } from '#app/errors.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';
import { FileProxy } from '#app/targets/threads/remote-memory.js';
import type { FileReply } from '#app/targets/threads/remote-memory.js';

describe('a file proxy', () => {
  const refuse = (): never => {
    throw new Fault('NATIVE_FAILED', 'mmap failed with errno 12');
  };
  const setUp = (given: Partial<SegmentFile>) => {
    const replies: FileReply[] = [];
    const file: SegmentFile = {
      identity: 'a',
      ownership: { uid: 0, isWritableByAll: false },
      read: () => 0,
      size: () => 0,
      nameState: () => 'kept',
      askLock: (answer) => answer(true),
      wait: () => () => undefined,
      close: () => undefined,
      ...given,
    };
    const memory: SharedMemory = { open: () => file };
    const proxy = new FileProxy(memory, (reply) => replies.push(reply));
    proxy.handle({ kind: 'opened', file: 1, name: 'x', identity: 'a' });
    return { proxy, replies };
  };

  it('reports why it cannot check a lock', () => {
    const { proxy, replies } = setUp({ askLock: refuse });
    proxy.handle({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([
      { kind: 'no-lock', file: 1, reason: 'mmap failed with errno 12' },
    ]);
  });

  it('does not report a file as unlocked if it cannot open the file', () => {
    const replies: FileReply[] = [];
    const proxy = new FileProxy({ open: refuse }, (reply) => replies.push(reply));
    proxy.handle({ kind: 'opened', file: 1, name: 'x', identity: 'a' });
    proxy.handle({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([
      { kind: 'no-lock', file: 1, reason: 'mmap failed with errno 12' },
    ]);
  });

  it('reports a file as unlocked if another file has its name now', () => {
    const { proxy, replies } = setUp({ identity: 'b' });
    proxy.handle({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([{ kind: 'lock', file: 1, isLocked: false }]);
  });

  it('replies once to each wait, but not to a wait that was cancelled', () => {
    const moves: (() => void)[] = [];
    let ended = 0;
    const { proxy, replies } = setUp({
      wait: (_position, _expected, moved) => {
        moves.push(moved);
        return () => ended++;
      },
    });
    for (const wait of [1, 2])
      proxy.handle({ kind: 'wait', file: 1, wait, position: 0, expected: 0 });
    moves[0]?.();
    proxy.handle({ kind: 'end-wait', file: 1, wait: 1 });
    expect(ended).to.equal(0);
    proxy.handle({ kind: 'closed', file: 1 });
    expect(ended).to.equal(1);
    expect(replies).to.deep.equal([{ kind: 'woken', file: 1, wait: 1 }]);
  });
});
