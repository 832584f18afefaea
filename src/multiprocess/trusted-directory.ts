// Opens a directory of metric files, and decides which of its files are trusted.
import { Fault } from '../errors.js';
import { openDirectory, trusting } from '../foreign/verified-file.js';
import type { DirectoryPath, FileTrust, OpenDirectory } from '../foreign/verified-file.js';

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/** An open directory, and which of its files are trusted. */
export interface TrustedDirectory {
  readonly directory: OpenDirectory;
  readonly trust: FileTrust;
}

/** Opens a directory. @throws Fault NATIVE_FAILED if it is not trusted; an Error if it cannot be opened */
export function openTrusted(
  place: DirectoryPath,
  trustedOwners: readonly number[],
): TrustedDirectory {
  const directory = openDirectory(place);
  try {
    return { directory, trust: trustIn(directory, trustedOwners) };
  } catch (error) {
    directory.close();
    throw error;
  }
}

/**
 * Which files of a directory are trusted. Every file of a directory to which only its owner and group may write, if the
 * owners are in `trusted_owners`. In a directory that all users share, such as /tmp, only files of root, of the
 * exporter's user and of the users in `trusted_owners`.
 */
function trustIn({ uid, mode }: OpenDirectory, trustedOwners: readonly number[]): FileTrust {
  const isShared = (mode & OTHERS_WRITE) !== 0;
  if (isShared && (mode & STICKY) === 0)
    throw new Fault('NATIVE_FAILED', 'is writable by other users, and has no sticky bit');
  const isTrusted = trusting(isShared ? [...trustedOwners, 0] : trustedOwners);
  const faultOf = (each: number): string | undefined =>
    isTrusted(each) ? undefined : `belongs to user ${each}, who is not in trusted_owners`;
  const fault = faultOf(uid);
  if (fault !== undefined) throw new Fault('NATIVE_FAILED', fault);
  return { faultOf, allowsGroup: true };
}
