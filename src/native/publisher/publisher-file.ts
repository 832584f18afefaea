// Creates a publisher's file without a name, holds its lock, and names the file when it is complete.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { Fault, messageOf } from '../../errors.js';
import * as os from '#publisher-os';
import type { Mapping, PublisherOs } from '../os/publisher-os.js';
import { SHM_FOLDER } from '../os/shared-memory.js';
import { HEADER, MAGIC, MUTABLE, MUTABLE_OFFSET, PAGE, SEGMENT_STATE } from '../segment/layout.js';

const { geteuid, pid: ownPid } = process;
const {
  allocate,
  futexWake,
  isLocked,
  linkOpen,
  map,
  replaceMappings,
  setMode,
  tryLock,
}: PublisherOs = os;

/** O_TMPFILE of open(2): a file without a name. Node has no constant for it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
const { O_RDONLY, O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
const EEXIST = 17;

const PLACE_ATTEMPTS = 3;
/** Granularity of allocations in the sparse file, in bytes. */
const ALLOCATION_STEP_BYTES = 65_536;

export class PublisherFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #size: number;
  readonly #mode: number;
  #fd: number;
  /** Device and inode of the file. */
  #identity: string | undefined;
  readonly #mapping: Mapping;
  /** Allocated bytes of each region, by the region's offset. */
  readonly #allocated = new Map<number, number>();
  #isNamed = false;

  /** @throws Fault NATIVE_FAILED if the file cannot be created, SEGMENT_FULL if /dev/shm is full */
  constructor(name: string, size: number, mode: number, unique: string) {
    this.#path = `${SHM_FOLDER}/${name}`;
    this.#temporary = `${SHM_FOLDER}/.${name}.${unique}.tmp`;
    this.#size = size;
    this.#mode = mode;
    this.#fd = this.#open();
    this.#identity = identityOf(this.#fd);
    try {
      if (!this.reserve(0, PAGE, PAGE))
        throw new Fault('SEGMENT_FULL', `${SHM_FOLDER} has no room for ${this.#path}`);
      this.#mapping = this.#share(this.#fd, (fd) => map(fd, size, 'write'));
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  get path(): string {
    return this.#path;
  }

  /** The whole file. Access only the parts that `reserve` allocated. */
  get bytes(): Buffer {
    return this.#mapping.bytes;
  }

  /** Allocates the first `end` bytes of a region; false if /dev/shm is full. */
  reserve(region: number, end: number, capacity: number): boolean {
    const allocated = this.#allocated.get(region) ?? 0;
    if (end <= allocated) return true;
    const wanted = Math.min(
      Math.ceil(end / ALLOCATION_STEP_BYTES) * ALLOCATION_STEP_BYTES,
      capacity,
    );
    if (wanted < end || !this.#allocate(region + allocated, wanted - allocated)) return false;
    this.#allocated.set(region, wanted);
    return true;
  }

  /** Whether the name refers to this file now. */
  get hasName(): boolean {
    return this.#isNamed && this.#ownsName();
  }

  /**
   * Gives the finished segment its name.
   * @throws Fault SEGMENT_BUSY if another live publisher has the name, NATIVE_FAILED if another user's file has it
   */
  place(): void {
    for (let round = 0; round < PLACE_ATTEMPTS && !this.#isNamed; round++)
      this.#isNamed = this.#link(this.#path) || this.#replace();
    if (!this.#isNamed)
      throw new Fault(
        'SEGMENT_BUSY',
        `${this.#path} was taken by other publishers at each of ${PLACE_ATTEMPTS} attempts`,
      );
  }

  /**
   * Restores the name if it was removed. For example, systemd-logind removes it when a user's last session ends. An
   * unlinked file cannot get a name again. So a copy replaces the file, and is mapped at the same addresses.
   * @throws Fault SEGMENT_FULL if /dev/shm is full, SEGMENT_BUSY if another live publisher has the name
   */
  restoreName(): void {
    const fd = this.#descriptor();
    if (this.hasName) return;
    // The file may still have its name in another mount namespace.
    if (this.#isNamed && fstatSync(fd).nlink > 0) return;
    if (this.#isNamed) this.#replaceByCopy();
    this.place();
  }

  /** Wakes all readers that wait on the 4-byte word at `position`. */
  wake(position: number): void {
    futexWake(this.bytes.subarray(position, position + 4));
  }

  /** Removes the name if it still refers to this file, and releases the lock. */
  close(): void {
    if (this.hasName)
      try {
        unlinkSync(this.#path);
      } catch {
        // The program may have dropped its permissions; then the name of the closed segment stays.
      }
    this.#mapping.unmap();
    if (identityOf(this.#fd) === this.#identity) closeSync(this.#fd);
  }

  #allocate(offset: number, length: number): boolean {
    try {
      return allocate(this.#descriptor(), offset, length) === 0;
    } catch {
      return false;
    }
  }

  /**
   * Returns the descriptor of the file. If the program closed the descriptor by mistake, another file may have its
   * number now. In this case, opens the segment's file again by its name, and locks it.
   * @throws Fault NATIVE_FAILED if the name is gone too, SEGMENT_BUSY if another publisher has the lock
   */
  #descriptor(): number {
    if (identityOf(this.#fd) === this.#identity) return this.#fd;
    const cannot = `Cannot reopen ${this.#path} after its descriptor was closed`;
    const fd = attempt(cannot, () => openSync(this.#path, O_RDWR | O_NOFOLLOW));
    if (identityOf(fd) === this.#identity && tryLock(fd)) return (this.#fd = fd);
    closeSync(fd);
    throw new Fault('SEGMENT_BUSY', `${cannot}: another publisher has its name`);
  }

  /** Creates and locks a file without a name, so that a failed or killed publisher leaves nothing behind. */
  #open(): number {
    const cannot = `Cannot make ${this.#path}`;
    const fd = attempt(cannot, () => openSync(SHM_FOLDER, O_TMPFILE | O_RDWR, 0o600));
    try {
      attempt(cannot, () => {
        ftruncateSync(fd, this.#size);
      });
      if (!tryLock(fd)) throw new Fault('NATIVE_FAILED', `${cannot}: the file cannot be locked`);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * Sets the file's mode, so that readers may open it, and maps the file through a second open file description. A
   * mapping through the first one would keep the lock: when a worker thread ends, Node closes its descriptors, but not
   * its mappings.
   */
  #share<T>(fd: number, mapIt: (fd: number) => T): T {
    const other = openSync(`/proc/self/fd/${fd}`, O_RDWR);
    try {
      // The umask would restrict a mode given to open(). The file is not mapped yet, so a failure leaves nothing to
      // undo.
      const errno = setMode(fd, this.#mode);
      if (errno !== 0)
        throw new Fault(
          'NATIVE_FAILED',
          `Cannot set the mode of ${this.#path}: ${getSystemErrorName(-errno)}`,
        );
      return mapIt(other);
    } finally {
      closeSync(other);
    }
  }

  #replaceByCopy(): void {
    const fd = this.#open();
    try {
      for (const [region, length] of this.#allocated) copyTo(fd, this.bytes, region, length);
      this.#share(fd, (other) => {
        this.#mapping.remap(other);
      });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    supersede(this.#fd);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#identity = identityOf(fd);
    this.#isNamed = false;
  }

  /** Gives the file a path; false if another file has that path. */
  #link(path: string): boolean {
    const errno = linkOpen(this.#descriptor(), path);
    if (errno === 0) return true;
    if (errno === EEXIST) return false;
    throw new Fault(
      'NATIVE_FAILED',
      `Cannot give a segment the name ${path}: ${getSystemErrorName(-errno)}`,
    );
  }

  /** Replaces a segment that has no live publisher; false if another publisher was faster. */
  #replace(): boolean {
    const old = this.#openOld();
    if (old === undefined) return false;
    try {
      if (!tryLock(old)) throw busy(this.#path, old);
      if (identityOf(old) !== identityOf(this.#path)) return false;
      replaceMappings(old);
      if (!this.#link(this.#temporary)) return false;
      this.#rename();
      supersede(old);
      return true;
    } finally {
      closeSync(old);
    }
  }

  /** Opens the file that has the name; undefined if it is gone. @throws Fault if it belongs to another user */
  #openOld(): number | undefined {
    try {
      return openIfExists(this.#path, O_RDWR | O_NOFOLLOW);
    } catch (error) {
      throw whyNotOpened(this.#path, error);
    }
  }

  /** Renames the file from its temporary name to the segment's name. */
  #rename(): void {
    try {
      renameSync(this.#temporary, this.#path);
    } catch (error) {
      unlinkSync(this.#temporary);
      throw notReplaced(this.#path, error, 'and its publisher has ended');
    }
  }

  #ownsName(): boolean {
    return identityOf(this.#path) === this.#identity;
  }
}

/** Copies `length` bytes at offset `from` to the same offset of another file. @throws Fault SEGMENT_FULL */
function copyTo(fd: number, bytes: Buffer, from: number, length: number): void {
  if (allocate(fd, from, length) !== 0)
    throw new Fault('SEGMENT_FULL', `${SHM_FOLDER} has no room for a copy of the segment`);
  const end = from + length;
  for (let at = from; at < end;) at += writeSync(fd, bytes, at, end - at, at);
}

/** Tells the readers of a segment that a newer one has its name. */
function supersede(fd: number): void {
  const state = Buffer.alloc(8);
  state.writeUInt32LE(SEGMENT_STATE.superseded, 0);
  if (fstatSync(fd).size >= PAGE) writeSync(fd, state, 0, 8, MUTABLE_OFFSET + MUTABLE.state);
}

/** The fault for a name whose file a live publisher has locked. */
function busy(path: string, fd: number): Fault {
  return new Fault('SEGMENT_BUSY', `another publisher holds ${path}${holderOf(fd)}`);
}

/**
 * The text ` (process PID)` with the pid in a segment's header; empty if the file is not a segment. The
 * holder may have the pid of this process without being this process, in another PID namespace.
 */
function holderOf(fd: number): string {
  const pid = pidOf(fd);
  if (pid === undefined) return '';
  return pid === BigInt(ownPid)
    ? ` (process ${pid}, the pid of this process)`
    : ` (process ${pid})`;
}

/** The pid in a segment's header; undefined if the file is not a segment. */
export function pidOf(fd: number): bigint | undefined {
  const header = Buffer.alloc(HEADER.size);
  readSync(fd, header, 0, HEADER.size, 0);
  const magic = header.subarray(HEADER.magic, HEADER.magic + MAGIC.length);
  return magic.equals(MAGIC) ? header.readBigUInt64LE(HEADER.pid) : undefined;
}

/** The fault for a file that cannot be opened for writing. SEGMENT_BUSY if a publisher of another user holds it. */
function whyNotOpened(path: string, error: unknown): Fault {
  let fd: number | undefined;
  try {
    fd = openIfExists(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd !== undefined && isLocked(fd)) return busy(path, fd);
    return notReplaced(path, error, 'and its publisher has ended');
  } catch {
    return notReplaced(path, error, 'and this process may not read it');
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The fault for a file that has no live publisher, but that this process may not replace. */
function notReplaced(path: string, error: unknown, state: string): Fault {
  const uid = foreignOwner(path);
  const advice =
    uid === undefined
      ? ''
      : `. It belongs to user ${uid}, ${state}: remove it as that user or root`;
  return new Fault('NATIVE_FAILED', `Cannot replace ${path}: ${messageOf(error)}${advice}`, {
    cause: error,
  });
}

/** The user id of a file's owner; undefined if the owner is this process's user, or if the file is gone. */
function foreignOwner(path: string): number | undefined {
  const uid = lstatSync(path, { throwIfNoEntry: false })?.uid;
  return uid === geteuid?.() ? undefined : uid;
}

/** Device and inode of a descriptor or path; undefined if there is no such file. */
export function identityOf(file: number | string): string | undefined {
  try {
    const { dev, ino } = typeof file === 'number' ? fstatSync(file) : statSync(file);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function openIfExists(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new Fault('NATIVE_FAILED', `${what}: ${messageOf(error)}`, { cause: error });
  }
}
