// What the main thread does for a thread that cannot lock or wait itself.
import { expect } from 'chai';
import { Fault } from '#app/errors.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';
import { FileDesk } from '#app/targets/threads/file-desk.js';
import type { FileReply } from '#app/targets/threads/messages.js';

describe('FileDesk', () => {
  const refuse = (): never => {
    throw new Fault('NATIVE_FAILED', 'mmap failed with errno 12');
  };
  const stage = (given: Partial<SegmentFile>) => {
    const replies: FileReply[] = [];
    const file: SegmentFile = {
      identity: 'a',
      ownership: { uid: 0, isWritableByAll: false },
      read: () => 0,
      size: () => 0,
      nameHolder: () => 'this',
      askLock: (answer) => answer(true),
      wait: () => () => undefined,
      close: () => undefined,
      ...given,
    };
    const memory: SharedMemory = { open: () => file };
    const desk = new FileDesk(memory, (reply) => replies.push(reply));
    desk.hear({ kind: 'opened', file: 1, name: 'x', identity: 'a' });
    return { desk, replies };
  };

  it('says why it cannot tell of a lock', () => {
    const { desk, replies } = stage({ askLock: refuse });
    desk.hear({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([
      { kind: 'no-lock', file: 1, reason: 'mmap failed with errno 12' },
    ]);
  });

  it('does not take a file for one that nobody locks where it could not be opened', () => {
    const replies: FileReply[] = [];
    const desk = new FileDesk({ open: refuse }, (reply) => replies.push(reply));
    desk.hear({ kind: 'opened', file: 1, name: 'x', identity: 'a' });
    desk.hear({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([
      { kind: 'no-lock', file: 1, reason: 'mmap failed with errno 12' },
    ]);
  });

  it('takes a file that has another name holder by now for one that nobody locks', () => {
    const { desk, replies } = stage({ identity: 'b' });
    desk.hear({ kind: 'ask-lock', file: 1 });
    expect(replies).to.deep.equal([{ kind: 'lock', file: 1, isLocked: false }]);
  });

  it('calls back once, and not after the wait was ended', () => {
    const moves: (() => void)[] = [];
    let ended = 0;
    const { desk, replies } = stage({
      wait: (_position, _expected, moved) => {
        moves.push(moved);
        return () => ended++;
      },
    });
    for (const wait of [1, 2]) desk.hear({ kind: 'wait', file: 1, wait, position: 0, expected: 0 });
    moves[0]?.();
    desk.hear({ kind: 'end-wait', file: 1, wait: 1 });
    expect(ended).to.equal(0);
    desk.hear({ kind: 'closed', file: 1 });
    expect(ended).to.equal(1);
    expect(replies).to.deep.equal([{ kind: 'moved', file: 1, wait: 1 }]);
  });
});
