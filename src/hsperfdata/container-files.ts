// The counter files of JVMs in containers, found through the processes that run there.
import { readFileSync, readlinkSync } from 'node:fs';
import type { Budget } from '../budget.js';
import type { FoundFile } from './jvm-directory.js';
import { userOf } from './jvm-directory.js';
import { namesIn } from '../foreign/listing.js';
import { inDirectory } from '../foreign/safe-directory.js';
import { fitsAny } from '../rules/wildcard.js';

/** From one walk through all processes to the next. */
const WALK_EVERY_MS = 5000;
/** Steps of a process that is looked at, and of one whose directories are read. */
const LOOK_STEPS = 2;
const READ_STEPS = 20;

export class ContainerFiles {
  readonly #users: readonly string[];
  readonly #nowMs: () => number;
  readonly #proc: string;
  #files: readonly FoundFile[] = [];
  #walk: Generator<number, readonly FoundFile[]> | undefined;
  #walkedAtMs = -Infinity;

  constructor(users: readonly string[], nowMs: () => number, proc = '/proc') {
    this.#users = users;
    this.#nowMs = nowMs;
    this.#proc = proc;
  }

  /** Those that the last whole walk found; goes on with the present one as far as the budget allows. */
  find(budget: Budget): readonly FoundFile[] {
    if (this.#walk === undefined && this.#nowMs() - this.#walkedAtMs >= WALK_EVERY_MS)
      this.#walk = this.#walking();
    while (this.#walk !== undefined && !budget.isSpent) {
      const { done, value } = this.#walk.next();
      if (done !== true) {
        budget.spend(value);
        continue;
      }
      this.#files = value;
      this.#walk = undefined;
      this.#walkedAtMs = this.#nowMs();
    }
    return this.#files;
  }

  *#walking(): Generator<number, readonly FoundFile[]> {
    const found: FoundFile[] = [];
    const own = this.#namespaceOf('self');
    for (const name of this.#attempt(() => namesIn(this.#proc)) ?? []) {
      if (!/^[1-9]\d*$/.test(name)) continue;
      const namespace = this.#namespaceOf(name);
      yield LOOK_STEPS;
      // A process that sees what we see has its file where we look anyway.
      if (namespace === undefined || namespace === own) continue;
      found.push(...(this.#attempt(() => this.#filesOf(name)) ?? []));
      yield READ_STEPS;
    }
    return found;
  }

  /** The file of a process, which is named by the number that it has in its container. */
  #filesOf(pid: string): FoundFile[] {
    const status = readFileSync(`${this.#proc}/${pid}/status`, 'latin1');
    const inside = /^NSpid:.*?(\d+)$/m.exec(status)?.[1] ?? pid;
    const base = `${this.#proc}/${pid}/root`;
    const users = inDirectory({ base, below: ['tmp'] }, ({ path }) => namesIn(path), true).filter(
      (name) => name.startsWith('hsperfdata_') && fitsAny(userOf(name), this.#users),
    );
    return users.flatMap((user) => {
      const place = { base, below: ['tmp', user] };
      const has = this.#attempt(() => inDirectory(place, ({ path }) => namesIn(path)))?.includes(
        inside,
      );
      return has === true ? [{ place, name: inside, pid: Number(pid) }] : [];
    });
  }

  #namespaceOf(pid: string): string | undefined {
    return this.#attempt(() => readlinkSync(`${this.#proc}/${pid}/ns/mnt`));
  }

  /** A process may end, and its files may be none of ours. */
  #attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch {
      return undefined;
    }
  }
}
