// The counter files of a host, in the directories that the settings name.
import { basename, dirname } from 'node:path';
import { messageOf } from '../errors.js';
import { JvmDirectory, userOf } from './jvm-directory.js';
import type { FoundFile } from './jvm-directory.js';
import { Listing, namesIn } from '../foreign/listing.js';
import type { Clocks } from '../foreign/listing.js';
import { fitsAny } from '../rules/wildcard.js';

/** The most directories that one setting may name. */
const MAX_DIRECTORIES = 1024;

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Why a directory was left out, one sentence each. */
  readonly refusals: readonly string[];
}

export class HostFiles {
  readonly #globs: readonly { readonly parent: string; readonly names: () => readonly string[] }[];
  readonly #users: readonly string[];
  readonly #clocks: Clocks;
  #directories = new Map<string, JvmDirectory>();

  /**
   * @param directories paths whose last part may hold *
   * @param users those whose files are wanted; empty for all
   */
  constructor(directories: readonly string[], users: readonly string[], clocks: Clocks) {
    this.#globs = directories.map((path) => {
      const parent = dirname(path);
      const pattern = basename(path);
      if (!pattern.includes('*')) return { parent, names: () => [pattern] };
      const read = () => namesIn(parent).filter((name) => fitsAny(name, [pattern]));
      const listing = new Listing(parent, read, clocks);
      return { parent, names: () => listing.now() ?? [] };
    });
    this.#users = users;
    this.#clocks = clocks;
  }

  /** The paths of the directories that were there last. */
  get paths(): readonly string[] {
    return [...this.#directories.keys()];
  }

  /** The files that are there now; never throws. */
  find(): FoundFiles {
    const found: FoundFile[] = [];
    const refusals: string[] = [];
    const attempt = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        refusals.push(messageOf(error));
      }
    };
    const directories = new Map<string, JvmDirectory>();
    for (const { parent, names } of this.#globs)
      attempt(() => {
        for (const name of names().slice(0, MAX_DIRECTORIES)) {
          if (!fitsAny(userOf(name), this.#users)) continue;
          const path = `${parent}/${name}`;
          const place = { base: parent, below: [name] };
          directories.set(
            path,
            this.#directories.get(path) ?? new JvmDirectory(place, this.#clocks),
          );
        }
      });
    for (const directory of directories.values())
      attempt(() => {
        found.push(...directory.files());
      });
    this.#directories = directories;
    return { files: found, refusals };
  }
}
