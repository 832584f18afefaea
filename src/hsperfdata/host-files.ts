// The counter files of a host, in the directories that the settings name.
import { basename, dirname } from 'node:path';
import { messageOf } from '../errors.js';
import { JvmDirectory, userOf } from './jvm-directory.js';
import type { FoundFile } from './jvm-directory.js';
import { Listing, cutSentence, listed } from '../foreign/listing.js';
import type { Clocks, Names } from '../foreign/listing.js';
import { fitsAny } from '../rules/wildcard.js';

/** The most directories that one setting may name. */
const MAX_DIRECTORIES = 1024;

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Why a directory was left out, one sentence each. */
  readonly refusals: readonly string[];
  /** Warnings about directories with more names than are read, one sentence each. */
  readonly cuts: readonly string[];
}

const NO_NAMES: Names = { names: [], isCut: false };

export class HostFiles {
  readonly #globs: readonly { readonly parent: string; readonly list: () => Names }[];
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
      if (!pattern.includes('*'))
        return { parent, list: () => ({ names: [pattern], isCut: false }) };
      const read = () => {
        const { names, isCut } = listed(parent);
        return { names: names.filter((name) => fitsAny(name, [pattern])), isCut };
      };
      const listing = new Listing(parent, read, clocks);
      return { parent, list: () => listing.now() ?? NO_NAMES };
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
    const cuts: string[] = [];
    const attempt = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        refusals.push(messageOf(error));
      }
    };
    const directories = new Map<string, JvmDirectory>();
    for (const { parent, list } of this.#globs)
      attempt(() => {
        const { names, isCut } = list();
        if (isCut) cuts.push(cutSentence(parent));
        const wanted = names.filter((name) => fitsAny(userOf(name), this.#users));
        if (wanted.length > MAX_DIRECTORIES)
          cuts.push(
            `${parent} has ${wanted.length} directories of counter files, and only ${MAX_DIRECTORIES} are read: remove those of users who are gone`,
          );
        for (const name of wanted.slice(0, MAX_DIRECTORIES)) {
          const path = `${parent}/${name}`;
          const place = { base: parent, below: [name] };
          directories.set(
            path,
            this.#directories.get(path) ?? new JvmDirectory(place, this.#clocks),
          );
        }
      });
    for (const [path, directory] of directories)
      attempt(() => {
        // One by one: there may be more files than a call takes arguments.
        for (const file of directory.files()) found.push(file);
        if (directory.isCut) cuts.push(cutSentence(path));
      });
    this.#directories = directories;
    return { files: found, refusals, cuts };
  }
}
