// Opens a directory of another program's files without following a link that somebody may have put in its way.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Fault } from '../errors.js';
import { OTHERS_WRITE } from './checked-file.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** A directory: a path that can be relied on, and the names below it, none of which may be a link. */
export interface DirectoryPlace {
  readonly base: string;
  readonly below: readonly string[];
}

export interface OpenDirectory {
  /** Leads to it whatever happens to its name. */
  readonly path: string;
  readonly uid: number;
}

export const pathOf = ({ base, below }: DirectoryPlace): string =>
  [base === '/' ? '' : base, ...below].join('/');

/**
 * Runs `use` with the open directory.
 * @param isShared whether others may write it, as they may /tmp
 * @throws Fault NATIVE_FAILED for one that others than its owner may write; an Error where it cannot be
 *   opened
 */
export function inDirectory<T>(
  place: DirectoryPlace,
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

function opened({ base, below }: DirectoryPlace): number {
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
