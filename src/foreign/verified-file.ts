// Opens files and directories of other programs, and verifies their type, owner and mode before use.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { Fault, codeOf, messageOf } from '../errors.js';

const { getuid } = process;

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Mode bits of write permission for the group and for others. */
const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;
/**
 * The statfs(2) types of Btrfs and overlayfs. For their files, stat(2) and /proc/PID/maps report different devices.
 */
const TYPES_WITHOUT_DEVICE = new Set([0x9123_683e, 0x794c_7630]);

interface FileIdentity {
  /** The identity as a text: `device:inode`. */
  readonly key: string;
  readonly inode: bigint;
  readonly uid: number;
}

/** Which users may have written a file. */
export interface FileTrust {
  /** The fault of a file of this user, as text that follows the path; undefined if the file is trusted. */
  readonly faultOf: (uid: number) => string | undefined;
  /** Whether the group of the file may write to it. */
  readonly allowsGroup: boolean;
}

const trustingOnly = (directoryUid: number): FileTrust => ({
  faultOf: (uid) =>
    uid === directoryUid
      ? undefined
      : `belongs to user ${uid}, but its directory to user ${directoryUid}`,
  allowsGroup: false,
});

/**
 * A file of another program, open for reading. The exporter never writes, maps or locks the file: a program may stop
 * using a file that it finds locked.
 */
export class VerifiedFile {
  readonly identity: FileIdentity;
  /** -1 once the file is closed, since another file may get the number. */
  #fd: number;

  /**
   * Opens a regular file that has one hard link.
   * @param trust the owner of its directory, if the file must belong to this user and be writable only by this user
   * @throws Fault NATIVE_FAILED if the file fails a check, or has more than `maxBytes`; an Error if open(2) fails
   */
  constructor(path: string, trust: number | FileTrust, maxBytes: number) {
    this.#fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      this.identity = this.#checked(
        typeof trust === 'number' ? trustingOnly(trust) : trust,
        maxBytes,
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the file has been unlinked. */
  get isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /** A text that changes when the file is written, truncated or unlinked. */
  get stamp(): string {
    const { size, mtimeNs, ctimeNs, nlink } = fstatSync(this.#fd, { bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs} ${nlink}`;
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  /** The device as in /proc/PID/maps; undefined on file systems where stat(2) may report a different device. */
  get device(): string | undefined {
    const { type } = statfsSync(`/proc/self/fd/${this.#fd}`);
    if (TYPES_WITHOUT_DEVICE.has(type)) return undefined;
    return deviceText(fstatSync(this.#fd, { bigint: true }).dev);
  }

  /** Copies bytes, starting at `position`. Returns the number of copied bytes. */
  read(into: Uint8Array, position: number): number {
    return readSync(this.#fd, into, 0, into.length, position);
  }

  /** After it, all other methods throw. */
  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  #checked({ faultOf, allowsGroup }: FileTrust, maxBytes: number): FileIdentity {
    const stat = fstatSync(this.#fd, { bigint: true });
    const uid = Number(stat.uid);
    if (!stat.isFile()) throw refused('is not a regular file');
    if (stat.nlink !== 1n) throw refused(`has ${stat.nlink} hard links, allowed: 1`);
    const fault = faultOf(uid);
    if (fault !== undefined) throw refused(fault);
    const refusedMode = allowsGroup ? OTHERS_WRITE : GROUP_OR_OTHERS_WRITE;
    if ((Number(stat.mode) & refusedMode) !== 0) throw refused('is writable by other users');
    if (stat.size > maxBytes) throw refused(`has ${stat.size} bytes, allowed: at most ${maxBytes}`);
    return { key: `${stat.dev}:${stat.ino}`, inode: stat.ino, uid };
  }
}

/** The major and minor number of a device in hexadecimal, as in /proc/PID/maps. makedev(3). */
export function deviceText(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffff_ff00n);
  return [major, minor].map((each) => each.toString(16).padStart(2, '0')).join(':');
}

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);

/** The path of a directory: a trusted base, and the names below it. No name may be a symbolic link. */
export interface DirectoryPath {
  readonly base: string;
  readonly below: readonly string[];
}

interface VerifiedDirectory {
  /** A path in /proc/self/fd, which stays valid if the directory is renamed. */
  readonly path: string;
  readonly uid: number;
}

/** An open directory of other programs. */
export interface OpenDirectory extends VerifiedDirectory {
  readonly mode: number;
  /** The identity as a text: `device:inode`. */
  readonly key: string;
  close(): void;
}

/** Opens a directory. @throws an Error if open(2) fails */
export function openDirectory(place: DirectoryPath): OpenDirectory {
  const fd = opened(place);
  const { uid, mode, dev, ino } = fstatSync(fd, { bigint: true });
  return {
    path: `/proc/self/fd/${fd}`,
    uid: Number(uid),
    mode: Number(mode),
    key: `${dev}:${ino}`,
    close: () => {
      closeSync(fd);
    },
  };
}

export const pathOf = ({ base, below }: DirectoryPath): string =>
  [base === '/' ? '' : base, ...below].join('/');

/**
 * The path of the first symbolic link below the base of a path; undefined without one, or if the path does not lead to a
 * directory.
 */
export function firstLinkBelowBase(place: DirectoryPath): string | undefined {
  try {
    if (!statSync(pathOf(place)).isDirectory()) return undefined;
    const paths = place.below.map((_, index) =>
      pathOf({ ...place, below: place.below.slice(0, index + 1) }),
    );
    return paths.find((path) => lstatSync(path).isSymbolicLink());
  } catch {
    return undefined;
  }
}

/**
 * Runs `use` with the open directory.
 * @param isShared whether users other than the owner may write to the directory (true for /tmp)
 * @throws Fault NATIVE_FAILED if other users may write to a directory that is not shared; an Error if open(2) fails
 */
export function withDirectory<T>(
  place: DirectoryPath,
  use: (directory: VerifiedDirectory) => T,
  isShared = false,
): T {
  const directory = openDirectory(place);
  try {
    if (!isShared && (directory.mode & GROUP_OR_OTHERS_WRITE) !== 0)
      throw new Fault('NATIVE_FAILED', `directory ${pathOf(place)} is writable by other users`);
    return use(directory);
  } finally {
    directory.close();
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

/** Returns a test of user ids: it accepts the owners, root and this process's user. Without owners, it accepts all. */
export function trusting(owners: readonly number[] = []): (uid: number) => boolean {
  const trusted = new Set([0, getuid?.() ?? 0, ...owners]);
  return (uid) => owners.length === 0 || trusted.has(uid);
}

/** Whether an error means that the file or process does not exist. */
export const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(codeOf(error));

/** Whether an error means that permission is missing. */
export const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error));

/** The reason why a file cannot be read, as text that follows the path in a sentence. */
export function unreadableReason(error: unknown): string {
  if (error instanceof Fault) return error.message;
  if (isForbidden(error)) return 'cannot be read: the user of the exporter lacks permission';
  if (codeOf(error) === 'ELOOP') return 'is a link';
  if (codeOf(error) === 'ENOTDIR') return 'is a link or not a directory';
  return `cannot be read: ${messageOf(error)}`;
}
