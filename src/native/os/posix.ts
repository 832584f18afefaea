// Opens segments in POSIX shared memory (/dev/shm), with their locks and futexes.
import type { FutexWaiter } from './futex-waiter.js';
import { PAGE } from '../segment/layout.js';
import { isLocked, map } from './libc.js';
import type { Mapping } from './publisher-os.js';
import { openReadable } from './shared-memory.js';
import type { ReadableFile, SegmentFile, SharedMemory } from './shared-memory.js';

/** @param waiter waits for changes of words; without it, `wait` never calls back */
export const posixMemory = (waiter?: FutexWaiter): SharedMemory => ({
  open(name) {
    const file = openReadable(name);
    return file && segmentFile(file, waiter);
  },
});

const NOTHING_TO_END = (): void => undefined;

function segmentFile(file: ReadableFile, waiter: FutexWaiter | undefined): SegmentFile {
  let page: Mapping | undefined;
  let hasFailed = false;
  return {
    identity: file.identity,
    ownership: file.ownership,
    read: (into, length, position) => file.read(into, length, position),
    size: () => file.size(),
    nameState: () => file.nameState(),
    askLock(answer) {
      if (file.isOpen) answer(isLocked(file.fd));
    },
    wait(position, expected, onChange) {
      if (!file.isOpen || waiter === undefined || position + 4 > PAGE) return NOTHING_TO_END;
      try {
        // Only the operating system reads the mapped page, so a truncated file is harmless.
        if (!hasFailed) page ??= map(file.fd, PAGE, 'read');
      } catch {
        // Without the mapping, `wait` never calls back, but polling still works.
        hasFailed = true;
      }
      if (page === undefined) return NOTHING_TO_END;
      return waiter.wait(page.bytes.subarray(position, position + 4), expected, onChange);
    },
    close() {
      page?.unmap();
      page = undefined;
      file.close();
    },
  };
}
