// POSIX shared memory: real segments under /dev/shm, read with pread.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { Fault, messageOf } from '../errors.js';
import { PAGE } from './layout.js';
import { isLocked, map } from './libc.js';
import type { Mapping } from './libc.js';
import type { SegmentFile, SharedMemory } from './shared-memory.js';

/** Where Linux keeps POSIX shared memory objects. */
export const SHM_FOLDER = '/dev/shm';

export const posixMemory: SharedMemory = {
  open(name) {
    const path = `${SHM_FOLDER}/${name}`;
    const fd = openForReading(path);
    if (fd === undefined) return undefined;
    if (!fstatSync(fd).isFile()) {
      closeSync(fd);
      throw new Fault('NATIVE_FAILED', `${path} is not a regular file`);
    }
    return segmentFile(path, fd);
  },
};

function openForReading(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Fault('NATIVE_FAILED', `Cannot open ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function segmentFile(path: string, fd: number): SegmentFile {
  let page: Mapping | undefined;
  let isOpen = true;
  return {
    read: (into, length, position) => (isOpen ? readSync(fd, into, 0, length, position) : 0),
    size: () => (isOpen ? fstatSync(fd).size : 0),
    isNamed() {
      if (!isOpen) return false;
      const own = fstatSync(fd);
      if (own.nlink === 0) return false;
      const named = statSync(path, { throwIfNoEntry: false });
      return named?.ino === own.ino && named.dev === own.dev;
    },
    isLocked: () => isOpen && isLocked(fd),
    word(position) {
      // Only the kernel looks at the mapped page, so a file cut short harms nobody.
      if (!isOpen || position + 4 > PAGE) return undefined;
      page ??= map(fd, PAGE, 'read');
      return page.bytes.subarray(position, position + 4);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      page?.unmap();
      closeSync(fd);
    },
  };
}
