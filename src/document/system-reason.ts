// Explains in words why the system could not use a file.
import { messageOf } from '../errors.js';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EEXIST: 'it exists already',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file may not become larger',
  EPIPE: 'its reader has closed it',
  EROFS: 'its file system is read-only',
  ENXIO: 'it is a socket',
  EIO: 'input/output error',
};

/** The message of a program that cannot write to stdout. */
export const stdoutFailure = (error: Error): string =>
  `stdout cannot be written: ${systemReason(error)}`;

/** The reason behind a failed system call, without the path: the sentence around it names the file. */
export function systemReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? messageOf(cause);
}
