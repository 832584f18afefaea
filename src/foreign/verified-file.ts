// Opens files and directories of other programs, checked before anything in them is believed.
import { closeSync, constants, fstatSync, openSync, readSync, statfsSync } from 'node:fs';
import { getuid } from 'node:process';
import { Fault, messageOf } from '../errors.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Writable by the group or by others. */
const OTHERS_WRITE = 0o022;
/** Btrfs and overlayfs: stat(2) gives another device for their files than /proc/PID/maps. Types of statfs(2). */
const DEVICES_DIFFER = new Set([0x9123_683e, 0x794c_7630]);

interface FileIdentity {
  /** Device and inode. */
  readonly key: string;
  /** The device as /proc/PID/maps has it; undefined where that may differ from the one of stat(2). */
  readonly device: string | undefined;
  readonly inode: bigint;
  readonly uid: number;
}

/** Nothing is written, mapped or locked: a program may give up a file that it finds locked. */
export class VerifiedFile {
  readonly identity: FileIdentity;
  readonly #fd: number;

  /**
   * Opens a regular file with one name that belongs to the owner of its directory.
   * @throws Fault NATIVE_FAILED for one that is no such file, that somebody else may write, or that has
   *   more bytes than this; an Error where it cannot be opened
   */
  constructor(path: string, directoryUid: number, maxBytes: number) {
    this.#fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      this.identity = this.#checked(directoryUid, maxBytes);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the file has its name no more. */
  get isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /** Differs after a write, a cut, and the loss of its name. */
  get stamp(): string {
    const { size, mtimeNs, ctimeNs, nlink } = fstatSync(this.#fd, { bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs} ${nlink}`;
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  /** Copies what the file has from this position on; returns the number of bytes. */
  read(into: Uint8Array, position: number): number {
    return readSync(this.#fd, into, 0, into.length, position);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #checked(directoryUid: number, maxBytes: number): FileIdentity {
    const stat = fstatSync(this.#fd, { bigint: true });
    const uid = Number(stat.uid);
    if (!stat.isFile()) throw refused('is no regular file');
    if (stat.nlink !== 1n) throw refused(`has ${stat.nlink} names`);
    if (uid !== directoryUid)
      throw refused(`belongs to user ${uid}, its directory to ${directoryUid}`);
    if ((Number(stat.mode) & OTHERS_WRITE) !== 0) throw refused('may be written by others');
    if (stat.size > maxBytes) throw refused(`has ${stat.size} bytes`);
    const { type } = statfsSync(`/proc/self/fd/${this.#fd}`);
    const device = DEVICES_DIFFER.has(type) ? undefined : deviceText(stat.dev);
    return { key: `${stat.dev}:${stat.ino}`, device, inode: stat.ino, uid };
  }
}

/** Major and minor number of a device as /proc/PID/maps has them, in hexadecimal digits. makedev(3). */
export function deviceText(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffff_ff00n);
  return [major, minor].map((each) => each.toString(16).padStart(2, '0')).join(':');
}

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);

/** A directory: a path that can be relied on, and the names below it, none of which may be a link. */
export interface DirectoryPath {
  readonly base: string;
  readonly below: readonly string[];
}

interface OpenDirectory {
  /** Leads to it whatever happens to its name. */
  readonly path: string;
  readonly uid: number;
}

export const pathOf = ({ base, below }: DirectoryPath): string =>
  [base === '/' ? '' : base, ...below].join('/');

/**
 * Runs `use` with the open directory.
 * @param isShared whether others may write it, as they may /tmp
 * @throws Fault NATIVE_FAILED for one that others than its owner may write; an Error where it cannot be
 *   opened
 */
export function withDirectory<T>(
  place: DirectoryPath,
  use: (directory: OpenDirectory) => T,
  isShared = false,
): T {
  const fd = opened(place);
  try {
    const { uid, mode } = fstatSync(fd);
    if (!isShared && (mode & OTHERS_WRITE) !== 0)
      throw new Fault('NATIVE_FAILED', `directory ${pathOf(place)} may be written by others`);
    return use({ path: `/proc/self/fd/${fd}`, uid });
  } finally {
    closeSync(fd);
  }
}

function opened({ base, below }: DirectoryPath): number {
  let fd = openSync(base, O_RDONLY | O_DIRECTORY);
  for (const name of below) {
    const parent = fd;
    try {
      fd = openSync(`/proc/self/fd/${parent}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } finally {
      closeSync(parent);
    }
  }
  return fd;
}

/** Whether the files of a user are believed: with no owners those of all, else those of root and this process, too. */
export function trusting(owners: readonly number[] = []): (uid: number) => boolean {
  const trusted = new Set([0, getuid?.() ?? 0, ...owners]);
  return (uid) => owners.length === 0 || trusted.has(uid);
}

/** Whether there is nothing of that name any more. */
export const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(codeOf(error));

/** Whether somebody else may read it. */
export const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error));

/** What follows the path. */
export function unreadableReason(error: unknown): string {
  if (error instanceof Fault) return error.message;
  if (isForbidden(error)) return 'may not be read by this user';
  if (codeOf(error) === 'ELOOP') return 'is a link';
  return `cannot be read: ${messageOf(error)}`;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
