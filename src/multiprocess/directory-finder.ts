// Finds the directories of a target on the host.
import { basename, dirname } from 'node:path';
import { CachedRead, readNames, truncationWarning } from '../foreign/directory-listing.js';
import type { Clocks } from '../foreign/directory-listing.js';
import { pathOf } from '../foreign/verified-file.js';
import type { DirectoryPath } from '../foreign/verified-file.js';

/** The maximum number of directories of a target. */
const MAX_DIRECTORIES = 1024;

/** The path of a directory that may exist. */
export interface FoundDirectory {
  readonly place: DirectoryPath;
  /** The value of the label that names the directory. */
  readonly label: string;
}

/** A configured path with `*`: the directory whose names it matches, and the parts of the path below. */
interface Glob {
  readonly names: CachedRead<readonly string[]>;
  readonly start: string;
  readonly end: string;
  readonly below: readonly string[];
}

export class DirectoryFinder {
  readonly #fixed: readonly FoundDirectory[];
  readonly #globs: readonly Glob[];
  #refusals: string[] = [];

  constructor(directories: readonly string[], clocks: Clocks) {
    this.#fixed = directories
      .filter((path) => !path.includes('*'))
      .map((path) => ({
        place: { base: dirname(path), below: [basename(path)] },
        label: path,
      }));
    this.#globs = directories
      .filter((path) => path.includes('*'))
      .map((path) => this.#globOf(path, clocks));
  }

  /** The reasons why directories were left out at the last call of `find`, one sentence each. */
  get refusals(): readonly string[] {
    return this.#refusals;
  }

  /** The paths that match now, by path. Never throws. */
  find(): ReadonlyMap<string, FoundDirectory> {
    this.#refusals = [];
    const found = new Map(this.#fixed.map((each) => [pathOf(each.place), each]));
    let surplus = 0;
    for (const { names, start, end, below } of this.#globs)
      for (const name of this.#attempt(names) ?? []) {
        const isMatch = name.length >= start.length + end.length;
        if (!isMatch || !name.startsWith(start) || !name.endsWith(end)) continue;
        // As in a shell, * does not match a hidden name.
        if (start === '' && name.startsWith('.')) continue;
        const place = { base: names.path, below: [name, ...below] };
        const label = name.slice(start.length, name.length - end.length);
        if (found.size < MAX_DIRECTORIES) found.set(pathOf(place), { place, label });
        else surplus++;
      }
    if (surplus > 0)
      this.#refusals.push(
        `${surplus} directories are left out: a target has at most ${MAX_DIRECTORIES}`,
      );
    return found;
  }

  #globOf(path: string, clocks: Clocks): Glob {
    const parts = path.split('/');
    const at = parts.findIndex((part) => part.includes('*'));
    const base = parts.slice(0, at).join('/') || '/';
    const [start = '', end = ''] = parts[at]?.split('*') ?? [];
    const read = (): readonly string[] => {
      const { names, isTruncated } = readNames(base);
      if (isTruncated) this.#refusals.push(truncationWarning(base));
      return names.sort();
    };
    return { names: new CachedRead(base, read, clocks), start, end, below: parts.slice(at + 1) };
  }

  #attempt(names: CachedRead<readonly string[]>): readonly string[] | undefined {
    try {
      return names.now();
    } catch (error) {
      this.#refusals.push(String(error));
      return undefined;
    }
  }
}
