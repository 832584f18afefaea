// System calls that Node lacks. Only this file knows ffi-napi and ref-napi.
import ffi from 'ffi-napi';
import bindings from 'ffi-napi/lib/bindings.js';
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { arch } from 'node:os';
import ref from 'ref-napi';
import { Fault } from '../../errors.js';
import { deviceText } from '../../foreign/verified-file.js';
import { loadedPackages } from './loaded-packages.js';
import type { Mapping } from './publisher-os.js';

// Node unloads a native package when the last thread that uses it ends. ffi-napi closes a handle of the event
// loop at that moment, and libuv would then call unloaded code. This additional reference keeps the packages loaded.
for (const file of loadedPackages(readFileSync('/proc/self/maps', 'utf8')))
  ffi.DynamicLibrary(file);

const POINTER_BYTES = 8;
/** The size of a long. Each function is called as if it returned a long. */
const RESULT_BYTES = 8;

/** The type of an argument, and the memory that holds its value. The caller stores the value before a call. */
type Argument = readonly [type: 'int' | 'long' | 'pointer', place: Buffer];

const int = (value: number): Buffer => ref.alloc('int', value);
const long = (value: number): Buffer => ref.alloc('long', value);
const pointer = (to: Buffer): Buffer => {
  const place = Buffer.alloc(POINTER_BYTES);
  ref.writePointer(place, 0, to);
  return place;
};

/**
 * A C function with preallocated arguments. A call takes 2 us. A call through `ffi.Library` takes 60 us, since it
 * allocates about eight buffers.
 */
class PreparedCall {
  readonly #interface: Buffer;
  readonly #symbol: Buffer;
  readonly #result = Buffer.alloc(RESULT_BYTES);
  readonly #places: Buffer;
  /** Keeps the arguments alive while their addresses are in use. */
  readonly arguments: readonly Argument[];

  /** @param name a function of the C library that returns an int or a long */
  constructor(name: string, args: readonly Argument[]) {
    const types = args.map(([type]) => type);
    this.#interface = ffi.CIF('long', types);
    this.#symbol = ffi.DynamicLibrary().get(name);
    this.arguments = args;
    this.#places = Buffer.alloc(args.length * POINTER_BYTES);
    args.forEach(([, place], index) => {
      ref.writePointer(this.#places, index * POINTER_BYTES, place);
    });
  }

  /** Calls the function with the current values of its arguments; returns the result as an int. */
  call(): number {
    bindings.ffi_call(this.#interface, this.#symbol, this.#result, this.#places);
    return this.#result.readInt32LE(0);
  }
}

// For rare events only: a call takes 60 us, and holds native memory until the next iteration of the event loop.
const libc = ffi.Library(null, {
  mmap: ['pointer', ['pointer', 'size_t', 'int', 'int', 'int', 'int64']],
  munmap: ['int', ['pointer', 'size_t']],
  fcntl: ['int', ['int', 'int', 'pointer']],
  linkat: ['int', ['int', 'string', 'int', 'string', 'int']],
  fchmod: ['int', ['int', 'uint32']],
  posix_fallocate: ['int', ['int', 'int64', 'int64']],
  socket: ['int', ['int', 'int', 'int']],
  sendto: ['long', ['int', 'pointer', 'size_t', 'int', 'pointer', 'uint32']],
  syscall: ['long', ['long', 'pointer', 'long', 'long', 'pointer', 'long', 'long']],
  _exit: ['void', ['int']],
});

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
const MAP_FIXED = 0x10;
/** MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS and MAP_NORESERVE: replaces a mapping with zeros. */
const MAP_ZEROS_OVER = 0x2 | 0x10 | 0x20 | 0x4000;
const MAP_FAILED = 'ffffffffffffffff';
const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
const F_OFD_GETLK = 36;
const F_OFD_SETLK = 37;
const F_RDLCK = 0;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FUTEX_WAKE = 1;
const ALL_WAITERS = 0x7fffffff;
const CLOCK_MONOTONIC = 1;
const FUTEX2_SIZE_U32 = 2;
const FUTEX_WAITERS_BYTES = 24;

/** At least the size of a sem_t. */
const SEMAPHORE_BYTES = 64;

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0x80002;
const MSG_DONTWAIT_NOSIGNAL = 0x4040;

/** System call numbers. futex_waitv (Linux 5.16) has the same number on every architecture. */
const SYS_FUTEX_WAITV = 449;
const SYS_FUTEX: Partial<Record<string, number>> = { x64: 202, arm64: 98 };
/** A number that belongs to no system call, for other architectures. */
const NO_SYSCALL = -1;

const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;

/**
 * Maps the first `length` bytes of an open file with MAP_SHARED.
 * @throws Fault NATIVE_FAILED with the errno
 */
export function map(fd: number, length: number, access: 'read' | 'write'): Mapping {
  const protection = access === 'read' ? PROT_READ : PROT_READ | PROT_WRITE;
  const base = libc.mmap(ref.NULL, length, protection, MAP_SHARED, fd, 0);
  if (ref.hexAddress(base) === MAP_FAILED)
    throw new Fault('NATIVE_FAILED', `mmap of ${length} bytes failed with errno ${ffi.errno()}`);
  let isMapped = true;
  return {
    bytes: ref.reinterpret(base, length, 0),
    remap(other) {
      const moved = libc.mmap(base, length, protection, MAP_SHARED | MAP_FIXED, other, 0);
      if (ref.hexAddress(moved) === MAP_FAILED)
        throw new Fault('NATIVE_FAILED', `mmap of another file failed with errno ${ffi.errno()}`);
    },
    unmap() {
      if (isMapped) libc.munmap(base, length);
      isMapped = false;
    },
  };
}

/** mmap() with addresses as numbers. */
const { mmap } = ffi.Library(null, {
  mmap: ['size_t', ['size_t', 'size_t', 'int', 'int', 'int', 'int64']],
});

/**
 * Replaces this process's mappings of an open file with zeros, to free their memory. It is meant for a publisher
 * whose worker thread has ended: Node does not unmap the publisher's file. A late access finds zeros, which is
 * harmless.
 */
export function replaceMappings(fd: number): void {
  const { dev, ino } = fstatSync(fd);
  const file = ` ${deviceText(BigInt(dev))} ${ino} `;
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, from, to] = line.includes(file) ? (/^(\w+)-(\w+) /.exec(line) ?? []) : [];
    if (from === undefined || to === undefined) continue;
    const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)];
    mmap(start, end - start, PROT_READ | PROT_WRITE, MAP_ZEROS_OVER, -1, 0);
  }
}

/** struct flock over a whole file: type at 0, whence at 2, start at 8, length at 16, pid at 24. */
function wholeFileLock(type: number): Buffer {
  const lock = Buffer.alloc(32);
  lock.writeInt16LE(type, 0);
  return lock;
}

const queried = { fd: int(0), lock: wholeFileLock(F_RDLCK) };
const queryLock = new PreparedCall('fcntl', [
  ['int', queried.fd],
  ['int', int(F_OFD_GETLK)],
  ['pointer', pointer(queried.lock)],
]);

/** Whether another open file description holds a write lock on the file. Does not take the lock. */
export function isLocked(fd: number): boolean {
  queried.fd.writeInt32LE(fd);
  // The last call may have written all fields.
  queried.lock.set(wholeFileLock(F_RDLCK));
  if (queryLock.call() !== 0)
    throw new Fault('NATIVE_FAILED', `fcntl(F_OFD_GETLK) failed with errno ${ffi.errno()}`);
  return queried.lock.readInt16LE(0) !== F_UNLCK;
}

/** Locks an open file for writing, until its descriptor is closed; false if another description holds the lock. */
export function tryLock(fd: number): boolean {
  return libc.fcntl(fd, F_OFD_SETLK, wholeFileLock(F_WRLCK)) === 0;
}

/** Gives an unnamed open file the name `path`; returns 0 or an errno such as EEXIST (17). */
export function linkOpen(fd: number, path: string): number {
  const from = `/proc/self/fd/${fd}`;
  return libc.linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) === 0 ? 0 : ffi.errno();
}

/**
 * Sets the mode of an open file; returns 0 or an errno. Node's permission model always refuses `fs.fchmod`.
 */
export function setMode(fd: number, mode: number): number {
  return libc.fchmod(fd, mode) === 0 ? 0 : ffi.errno();
}

/** Allocates a range of a sparse file; returns 0 or an errno such as ENOSPC (28). */
export function allocate(fd: number, offset: number, length: number): number {
  return libc.posix_fallocate(fd, offset, length);
}

/**
 * Sends one datagram to a UNIX socket, without waiting for room; returns 0 or an errno.
 * @param address a path, or `@` and a name of the abstract namespace
 */
export function sendDatagram(address: string, text: string): number {
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  if (socket === -1) return ffi.errno();
  try {
    const [message, to] = [Buffer.from(text), unixAddress(address)];
    const flags = MSG_DONTWAIT_NOSIGNAL;
    const sent = libc.sendto(socket, message, message.length, flags, to, to.length);
    return Number(sent) === -1 ? ffi.errno() : 0;
  } finally {
    closeSync(socket);
  }
}

/** Returns a struct sockaddr_un that ends after its path or abstract name. unix(7). */
function unixAddress(address: string): Buffer {
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  const isAbstract = address.startsWith('@');
  const name = isAbstract ? `\0${address.slice(1)}` : `${address}\0`;
  return Buffer.concat([family, Buffer.from(name)]);
}

const wakeAddress = pointer(ref.NULL);
const wake = new PreparedCall('syscall', [
  ['long', long(SYS_FUTEX[arch()] ?? NO_SYSCALL)],
  ['pointer', wakeAddress],
  ['long', long(FUTEX_WAKE)],
  ['long', long(ALL_WAITERS)],
]);

/** Wakes all waiters on the 4-byte word at the start of `word`. */
export function futexWake(word: Buffer): void {
  wakeAddress.writeBigUInt64LE(BigInt(ref.address(word)));
  wake.call();
}

/** Ends the process at once, without waiting for its threads. */
export const exitNow = (status: number): void => libc._exit(status);

/** Whether the Linux kernel and the seccomp profile allow futex_waitv. */
export function canWaitOnFutexes(): boolean {
  const EINVAL = 22; // the error for an empty list, if the call exists
  return libc.syscall(SYS_FUTEX_WAITV, ref.NULL, 0, 0, ref.NULL, 0, 0) === -1
    ? ffi.errno() === EINVAL
    : false;
}

/** A word to wait on and its expected value. */
export interface FutexWait {
  readonly word: Buffer;
  readonly expected: number;
}

/**
 * Calls `futex_waitv` on a thread of libuv's pool, for at most 128 words. Calls `done` when a word has changed, or at
 * the timeout.
 */
export function futexWaitAny(
  waits: readonly FutexWait[],
  monotonicNow: bigint,
  timeoutNs: bigint,
  done: () => void,
): void {
  const waiters = Buffer.alloc(waits.length * FUTEX_WAITERS_BYTES);
  waits.forEach(({ word, expected }, index) => {
    const at = index * FUTEX_WAITERS_BYTES;
    waiters.writeBigUInt64LE(BigInt(expected), at);
    waiters.writeBigUInt64LE(BigInt(`0x${ref.hexAddress(word)}`), at + 8);
    waiters.writeUInt32LE(FUTEX2_SIZE_U32, at + 16);
  });
  const until = monotonicNow + timeoutNs;
  const timespec = Buffer.alloc(16);
  timespec.writeBigInt64LE(until / 1_000_000_000n, 0);
  timespec.writeBigInt64LE(until % 1_000_000_000n, 8);
  libc.syscall.async(
    SYS_FUTEX_WAITV,
    waiters,
    waits.length,
    0,
    timespec,
    CLOCK_MONOTONIC,
    0,
    () => {
      // This reference keeps the buffers alive until the call ends.
      if (waiters.length + timespec.length > 0) done();
    },
  );
}

/**
 * Tests whether the system allows `count` more threads: starts them all, then ends them. Returns 0, or an errno such
 * as EAGAIN. Each thread waits on a semaphore until all have started.
 */
export function tryThreads(count: number): number {
  const semaphore = Buffer.alloc(SEMAPHORE_BYTES);
  const [atSemaphore, nothing] = [pointer(semaphore), pointer(ref.NULL)] as const;
  const wait = pointer(ffi.DynamicLibrary().get('sem_wait'));
  call('sem_init', ['pointer', atSemaphore], ['int', int(0)], ['int', int(0)]);
  const threads: Buffer[] = [];
  let refusal = 0;
  while (refusal === 0 && threads.length < count) {
    const thread = Buffer.alloc(POINTER_BYTES);
    const [at, attributes] = [pointer(thread), nothing];
    refusal = call(
      'pthread_create',
      ...[at, attributes, wait, atSemaphore].map((each): Argument => ['pointer', each]),
    );
    if (refusal === 0) threads.push(thread);
  }
  threads.forEach(() => call('sem_post', ['pointer', atSemaphore]));
  for (const thread of threads) call('pthread_join', ['pointer', thread], ['pointer', nothing]);
  return refusal;
}

/** Calls a function of the C library once. */
const call = (name: string, ...args: readonly Argument[]): number =>
  new PreparedCall(name, args).call();

/**
 * Makes malloc return freed blocks of at least `leastBytes` to the system at once. Malloc also returns the free end
 * of an arena once that end has at least four times `leastBytes`. By default, malloc raises both limits when a
 * program frees larger blocks (mallopt(3), M_MMAP_THRESHOLD). Returns false if the C library has no mallopt.
 */
export function returnFreed(leastBytes: number): boolean {
  try {
    const { mallopt } = ffi.Library(null, { mallopt: ['int', ['int', 'int']] });
    const isSet = mallopt(M_MMAP_THRESHOLD, leastBytes) === 1;
    return isSet && mallopt(M_TRIM_THRESHOLD, leastBytes * 4) === 1;
  } catch {
    return false;
  }
}

/**
 * Makes malloc return all free pages of all arenas to the system (malloc_trim(3)). Returns false if no page was free,
 * or if the C library has no malloc_trim.
 */
export function returnFreePages(): boolean {
  try {
    const { malloc_trim: trim } = ffi.Library(null, { malloc_trim: ['int', ['size_t']] });
    return trim(0) === 1;
  } catch {
    return false;
  }
}
