// Contract tests for the system calls of a publisher: libc.ts and addon.ts must both pass.
import { expect } from 'chai';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hrtime } from 'node:process';
import * as addon from '#app/native/os/addon.js';
import * as libc from '#app/native/os/libc.js';
import type { PublisherOs } from '#app/native/os/publisher-os.js';
import { SHM_FOLDER } from '#app/native/os/shared-memory.js';
import { eventually } from '../../support/eventually.js';
import { faultMessage } from '../../support/fault-message.js';
import { needs } from '../../support/needs.js';
import { freshSegments } from '../../support/segments.js';

const IMPLEMENTATIONS: Readonly<Record<string, PublisherOs>> = {
  'libc.ts': libc,
  'addon.ts': addon,
};
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
const EEXIST = 17;
const EBADF = 9;
const NO_FILE = 1_000_000;
const SIZE = 8192;

for (const [name, os] of Object.entries(IMPLEMENTATIONS))
  describe(`The system calls of a publisher in ${name}`, () => {
    const segments = freshSegments();
    const opened: number[] = [];
    afterEach(() => {
      for (const fd of opened.splice(0)) closeSync(fd);
    });

    const track = (fd: number): number => {
      opened.push(fd);
      return fd;
    };
    const unnamed = (): number => {
      const fd = track(openSync(SHM_FOLDER, O_TMPFILE | constants.O_RDWR, 0o600));
      ftruncateSync(fd, SIZE);
      return fd;
    };
    const again = (fd: number): number => track(openSync(`/proc/self/fd/${fd}`, constants.O_RDWR));
    const byteOf = (fd: number, at: number): number | undefined => {
      const byte = Buffer.alloc(1);
      readSync(fd, byte, 0, 1, at);
      return byte[0];
    };

    it('map a file, so that stores reach the file', () => {
      const fd = unnamed();
      const mapping = os.map(fd, SIZE, 'write');
      expect(mapping.bytes).to.have.lengthOf(SIZE);
      mapping.bytes[SIZE - 1] = 7;
      expect(byteOf(fd, SIZE - 1)).to.equal(7);
      writeSync(fd, Buffer.of(9), 0, 1, 1);
      expect(mapping.bytes[1]).to.equal(9);
      mapping.unmap();
      mapping.unmap();
    });

    it('map another file at the same address', () => {
      const [first, second] = [unnamed(), unnamed()];
      const mapping = os.map(first, SIZE, 'write');
      const { bytes } = mapping;
      bytes[0] = 1;
      mapping.remap(second);
      bytes[0] = 2;
      expect([byteOf(first, 0), byteOf(second, 0)]).to.deep.equal([1, 2]);
      mapping.unmap();
    });

    it('report the errno of a file that cannot be mapped', () => {
      expect(faultMessage('NATIVE_FAILED', () => os.map(NO_FILE, SIZE, 'write'))).to.equal(
        `mmap of ${SIZE} bytes failed with errno ${EBADF}`,
      );
      const mapping = os.map(unnamed(), SIZE, 'write');
      expect(
        faultMessage('NATIVE_FAILED', () => {
          mapping.remap(NO_FILE);
        }),
      ).to.equal(`mmap of another file failed with errno ${EBADF}`);
      mapping.unmap();
    });

    it('lock an open file description, and see the locks of others', () => {
      const fd = unnamed();
      const other = again(fd);
      expect([os.isLocked(fd), os.isLocked(other)]).to.deep.equal([false, false]);
      expect([os.tryLock(fd), os.tryLock(other)]).to.deep.equal([true, false]);
      expect([os.isLocked(fd), os.isLocked(other)]).to.deep.equal([false, true]);
      expect(faultMessage('NATIVE_FAILED', () => os.isLocked(NO_FILE))).to.equal(
        `fcntl(F_OFD_GETLK) failed with errno ${EBADF}`,
      );
      expect(os.tryLock(NO_FILE)).to.equal(false);
    });

    it('name an unnamed file unless the name is taken', () => {
      const path = `${SHM_FOLDER}/${segments.name('ä')}`;
      const fd = unnamed();
      try {
        expect(os.linkOpen(fd, path)).to.equal(0);
        expect(statSync(path).ino).to.equal(fstatSync(fd).ino);
        expect(os.linkOpen(unnamed(), path)).to.equal(EEXIST);
      } finally {
        unlinkSync(path);
      }
    });

    it('set the mode of an open file', () => {
      const fd = unnamed();
      expect(os.setMode(fd, 0o640)).to.equal(0);
      expect(fstatSync(fd).mode & 0o777).to.equal(0o640);
      expect(os.setMode(NO_FILE, 0o640)).to.equal(EBADF);
    });

    it('allocate a range of a file', () => {
      const fd = unnamed();
      expect(os.allocate(fd, 4096, 4096)).to.equal(0);
      expect(fstatSync(fd).blocks * 512).to.equal(4096);
      expect(os.allocate(NO_FILE, 0, 4096)).to.equal(EBADF);
    });

    it('wake a waiter on a word', async function () {
      needs(this, libc.canWaitOnFutexes(), 'the system has no futex_waitv');
      const mapping = os.map(unnamed(), SIZE, 'write');
      const word = mapping.bytes.subarray(8, 12);
      let isAwake = false;
      // The word keeps its value, so only a wake ends the wait before the test fails.
      libc.futexWaitAny([{ word, expected: 0 }], hrtime.bigint(), 60_000_000_000n, () => {
        isAwake = true;
      });
      await eventually('the waiter is awake', () => {
        os.futexWake(word);
        return isAwake;
      });
      mapping.unmap();
    });
  });

describe('A file that addon.ts has unmapped', () => {
  it('leaves a buffer without bytes, so that a late access reads and writes nothing', () => {
    const fd = openSync(SHM_FOLDER, O_TMPFILE | constants.O_RDWR, 0o600);
    ftruncateSync(fd, SIZE);
    const mapping = addon.map(fd, SIZE);
    const floats = new Float64Array(mapping.bytes.buffer);
    mapping.unmap();
    floats[0] = 1;
    expect([mapping.bytes.length, floats.length, floats[0]]).to.deep.equal([0, 0, undefined]);
    closeSync(fd);
  });
});
