// Contract tests for POSIX shared memory and for the heap memory that tests use. Both must pass.
import { expect } from 'chai';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { Fault } from '#app/errors.js';
import { posixMemory } from '#app/native/os/posix.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';
import { HeapMemory } from '../../support/heap-memory.js';
import { faultMessage } from '../../support/fault-message.js';
import { asOrdinaryUser } from '../../support/needs.js';
import { freshSegments } from '../../support/segments.js';

/** Returns the lock state that a file reports synchronously. */
function lockOf(file: SegmentFile | undefined): boolean | undefined {
  const answers: boolean[] = [];
  file?.askLock((isLocked) => answers.push(isLocked));
  return answers[0];
}

/** A shared memory, and the changes that a test makes to its segments. */
interface MemoryFixture {
  readonly memory: SharedMemory;
  readonly name: (serverKey: string) => string;
  readonly put: (serverKey: string, bytes: Buffer) => void;
  readonly cut: (serverKey: string, length: number) => void;
  readonly remove: (serverKey: string) => void;
}

/** Declares the tests that every shared memory must pass. */
function describeMemory(kind: string, makeFixture: () => MemoryFixture): void {
  describe(`The ${kind} implementation of shared memory`, () => {
    const fixture = makeFixture();
    const files: SegmentFile[] = [];
    afterEach(() => files.splice(0).forEach((file) => file.close()));
    const open = (serverKey: string): SegmentFile => {
      const file = fixture.memory.open(fixture.name(serverKey));
      if (file === undefined) throw new Error(`${serverKey} is not there`);
      files.push(file);
      return file;
    };

    it('opens nothing for a name without a segment', () =>
      expect(fixture.memory.open(fixture.name('none'))).to.equal(undefined));

    it('copies the bytes of a segment from any position', () => {
      fixture.put('82', Buffer.from('abcdef'));
      const into = Buffer.from('......');
      expect(open('82').read(into, 3, 2)).to.equal(3);
      expect(into.toString()).to.equal('cde...');
    });

    it('copies fewer bytes than requested at the end of a segment', () => {
      fixture.put('82', Buffer.from('abc'));
      const into = Buffer.from('......');
      expect(open('82').read(into, 6, 1)).to.equal(2);
      expect(into.toString()).to.equal('bc....');
      expect(open('82').read(into, 6, 3)).to.equal(0);
      expect(open('82').read(into, 6, 2 ** 40)).to.equal(0);
    });

    it('reports the current size of a segment, even after a truncation', () => {
      fixture.put('82', Buffer.alloc(5000, 1));
      const file = open('82');
      expect(file.size()).to.equal(5000);
      fixture.cut('82', 10);
      expect(file.size()).to.equal(10);
      expect(file.read(Buffer.alloc(20), 20, 0)).to.equal(10);
    });

    it('keeps a removed segment readable, and reports that the segment has no name', () => {
      fixture.put('82', Buffer.from('abc'));
      const file = open('82');
      expect(file.nameState()).to.equal('kept');
      fixture.remove('82');
      expect(file.nameState()).to.equal('removed');
      expect(file.read(Buffer.alloc(3), 3, 0)).to.equal(3);
      expect(fixture.memory.open(fixture.name('82'))).to.equal(undefined);
    });

    it('distinguishes a replaced segment from the segment that now has the name', () => {
      fixture.put('82', Buffer.from('old'));
      const old = open('82');
      fixture.put('82', Buffer.from('new'));
      const into = Buffer.alloc(3);
      old.read(into, 3, 0);
      expect([into.toString(), old.nameState()]).to.deep.equal(['old', 'replaced']);
      const replaced = open('82');
      replaced.read(into, 3, 0);
      expect([into.toString(), replaced.nameState()]).to.deep.equal(['new', 'kept']);
    });

    it('reads nothing from a closed segment, and closes it twice without an error', () => {
      fixture.put('82', Buffer.alloc(4096, 7));
      const file = open('82');
      file.close();
      file.close();
      const answers = [file.read(Buffer.alloc(4), 4, 0), file.size(), file.nameState()];
      const lockAnswers: boolean[] = [];
      file.askLock((isLocked) => lockAnswers.push(isLocked));
      expect(answers).to.deep.equal([0, 0, 'removed']);
      expect(lockAnswers, 'no answer').to.deep.equal([]);
    });
  });
}

describeMemory('heap', () => {
  const memory = new HeapMemory();
  const segments = new Map<string, ReturnType<HeapMemory['put']>>();
  return {
    memory,
    name: (serverKey) => serverKey,
    put: (serverKey, bytes) => void segments.set(serverKey, memory.put(serverKey, bytes)),
    cut: (serverKey, length) => segments.get(serverKey)?.truncate(length),
    remove: (serverKey) => memory.remove(serverKey),
  };
});

describeMemory('posix', () => {
  const segments = freshSegments();
  return {
    memory: posixMemory(),
    name: segments.name,
    put: (serverKey, bytes) => {
      writeFileSync(segments.path('new'), bytes);
      renameSync(segments.path('new'), segments.path(serverKey));
    },
    cut: (serverKey, length) => truncateSync(segments.path(serverKey), length),
    remove: (serverKey) => rmSync(segments.path(serverKey)),
  };
});

describe('POSIX shared memory', () => {
  const segments = freshSegments();

  it('detects whether a segment is locked, even if its file has two names', () => {
    segments.publish('82');
    writeFileSync(segments.path('free'), 'x');
    linkSync(segments.path('82'), segments.path('second'));
    const answers = ['82', 'free'].map((serverKey) => {
      const file = posixMemory().open(segments.name(serverKey));
      const answer = [lockOf(file), file?.nameState()];
      file?.close();
      return answer;
    });
    expect(answers).to.deep.equal([
      [true, 'kept'],
      [false, 'kept'],
    ]);
  });

  it('reports the existence, owner and mode of a segment that it may not read', () => {
    segments.publish('82');
    const path = segments.path('82');
    chmodSync(path, 0);
    expect(
      asOrdinaryUser(() =>
        faultMessage('NATIVE_FAILED', () => posixMemory().open(segments.name('82'))),
      ),
    ).to.match(
      /exists, but this process may not read it \(EACCES\): it belongs to user \d+, group \d+, and has mode 0000$/,
    );
  });

  it('reports the owner of a segment, and whether all users may write it', () => {
    const uid = process.getuid?.() ?? 0;
    const ownerships = [0o644, 0o660, 0o646].map((mode) => {
      writeFileSync(segments.path('82'), 'x');
      chmodSync(segments.path('82'), mode);
      const file = posixMemory().open(segments.name('82'));
      file?.close();
      return file?.ownership;
    });
    expect(ownerships).to.deep.equal([
      { uid, isWritableByAll: false },
      { uid, isWritableByAll: false },
      { uid, isWritableByAll: true },
    ]);
  });

  const NOT_OPENED = [
    ['a folder', (path: string) => mkdirSync(path), 'is not a regular file'],
    ['a link', (path: string) => symlinkSync('/etc/hostname', path), 'ELOOP'],
  ] as const;
  for (const [what, make, reason] of NOT_OPENED)
    it(`does not open ${what} in place of a segment, and names the path`, () => {
      make(segments.path('82'));
      expect(() => posixMemory().open(segments.name('82')))
        .to.throw(Fault, reason)
        .that.satisfies(
          ({ code, message }: Fault) =>
            code === 'NATIVE_FAILED' && message.includes(segments.path('82')),
        );
    });
});
