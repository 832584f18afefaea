// One directory of counter files: the files of one user.
import { Listing, listed } from '../foreign/listing.js';
import type { Clocks } from '../foreign/listing.js';
import { inDirectory, pathOf } from '../foreign/safe-directory.js';
import type { DirectoryPlace } from '../foreign/safe-directory.js';

/** A file that may hold the counters of a JVM. */
export interface FoundFile {
  readonly place: DirectoryPlace;
  readonly name: string;
  /** The number of the process here; inside of a container it has another one. */
  readonly pid: number;
}

const PID = /^[1-9]\d{0,9}$/;
const PREFIX = /^hsperfdata_/;

/** The user whose JVMs have a directory of this name. */
export const userOf = (directory: string): string => directory.replace(PREFIX, '');

export class JvmDirectory {
  readonly #listing: Listing<readonly FoundFile[]>;
  #isCut = false;

  constructor(place: DirectoryPlace, clocks: Clocks) {
    const read = () => {
      const { names, isCut } = inDirectory(place, ({ path }) => listed(path));
      this.#isCut = isCut;
      const files = names.filter((name) => PID.test(name));
      return files.map((name) => ({ place, name, pid: Number(name) }));
    };
    this.#listing = new Listing(pathOf(place), read, clocks);
  }

  /** Whether it has more names than were read. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * The files that are there now; none if the directory is not.
   * @throws Error or Fault NATIVE_FAILED if it cannot be read, or must not be believed
   */
  files(): readonly FoundFile[] {
    return this.#listing.now() ?? [];
  }
}
