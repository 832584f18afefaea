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

/** Finds directories that are not configured. A step returns the work that it did. */
interface OtherFinder {
  finding(): Generator<number, readonly FoundDirectory[]>;
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
  readonly #others: OtherFinder | undefined;
  #refusals: string[] = [];

  /** @param others finds further directories */
  constructor(directories: readonly string[], clocks: Clocks, others?: OtherFinder) {
    this.#others = others;
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

  /** Finds the paths that match now, by path. Never throws. A step returns the work that it did. */
  *finding(): Generator<number, ReadonlyMap<string, FoundDirectory>> {
    const named = this.#others === undefined ? [] : yield* this.#others.finding();
    this.#refusals = [];
    const all = [...this.#fixed, ...this.#globs.flatMap((glob) => this.#matchesOf(glob)), ...named];
    const found = new Map<string, FoundDirectory>();
    for (const each of all) {
      const path = pathOf(each.place);
      if (!found.has(path)) found.set(path, each);
    }
    const surplus = [...found.keys()].slice(MAX_DIRECTORIES);
    for (const path of surplus) found.delete(path);
    if (surplus.length > 0)
      this.#refusals.push(
        `${surplus.length} directories are left out: a target has at most ${MAX_DIRECTORIES}`,
      );
    return found;
  }

  #matchesOf({ names, start, end, below }: Glob): readonly FoundDirectory[] {
    const isMatch = (name: string): boolean =>
      name.length >= start.length + end.length &&
      name.startsWith(start) &&
      name.endsWith(end) &&
      // As in a shell, * does not match a hidden name.
      !(start === '' && name.startsWith('.'));
    return (this.#attempt(names) ?? []).filter(isMatch).map((name) => ({
      place: { base: names.path, below: [name, ...below] },
      label: name.slice(start.length, name.length - end.length),
    }));
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
