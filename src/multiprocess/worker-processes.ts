// Which processes write the files of a directory, and which of them still run.
import { namesIn } from '../foreign/directory-listing.js';
import {
  hasMapped,
  innermostPidOf,
  linkOf,
  lockHolderOf,
  startTicksOf,
  textOf,
} from '../foreign/processes.js';
import type { MappedFile } from '../foreign/processes.js';
import { rubyIdOf } from './file-name.js';

/** The time between two checks, in milliseconds. */
const CHECK_EVERY_MS = 1000;
/** The time until a process that has not mapped its files is checked again, in milliseconds. */
const PROVE_EVERY_MS = 5000;
/** The maximum number of files of a process whose mapping is looked for. */
const MAX_PROOFS = 4;
const PID = /^[1-9]\d{0,9}$/;
/** The root directory of a process, as the start of a path. */
const ROOT = /^\/proc\/([1-9]\d*)\/root\//;
/** The budget steps for reading a file of /proc, and for reading the memory maps of a process. */
const CHECK_STEPS = 4;
const PROVE_STEPS = 32;

export interface WorkerProcess {
  /** The PID in the exporter's PID namespace. */
  readonly pid: number;
  readonly startTicks: number;
}

/** The writer of the files with one identifier. */
export interface Worker {
  readonly id: string;
  /** The files that have been opened. */
  readonly files: Set<MappedFile>;
  /** The running process; undefined if it is unknown or has ended. */
  process: WorkerProcess | undefined;
  /** Whether its process has ended, or another one has its PID. */
  isDead: boolean;
  /** Whether its files changed although it seemed dead: its process is in a PID namespace that the exporter does not see. */
  isElsewhere: boolean;
  /** When to look for its process again. */
  dueMs: number;
}

/**
 * Finds the processes of the workers. An identifier is usually a PID, but may be any text. So a process is that of an
 * identifier only if it has this PID and has mapped one of the files, or if it holds the lock of one: the Ruby library
 * locks its files. Once one process of the directory is known, an identifier without a process belongs to one that has
 * ended.
 */
export class WorkerProcesses {
  readonly #proc: string;
  readonly #nowMs: () => number;
  /** The PID of a process in the PID namespace of the workers; undefined for that of the exporter. */
  readonly #neighbour: string | undefined;
  readonly #workers = new Map<string, Worker>();
  #checkedAtMs = -Infinity;
  /** Whether the identifiers are PIDs of processes that the exporter sees, and whether files are locked. */
  #arePids = false;
  #areLocked = false;

  /** @param path the path of the directory, perhaps below the root directory of a process */
  constructor(path: string, nowMs: () => number, proc = '/proc') {
    this.#proc = proc;
    this.#nowMs = nowMs;
    this.#neighbour = ROOT.exec(path)?.[1];
  }

  /** The workers whose processes are known to run. */
  *live(): Generator<{ readonly id: string; readonly process: WorkerProcess }> {
    for (const { id, process } of this.#workers.values())
      if (process !== undefined) yield { id, process };
  }

  /** The worker with an identifier. */
  of(id: string): Worker {
    const known = this.#workers.get(id);
    if (known !== undefined) return known;
    const worker: Worker = {
      ...{ id, files: new Set<MappedFile>(), process: undefined },
      ...{ isDead: false, isElsewhere: false, dueMs: 0 },
    };
    this.#workers.set(id, worker);
    return worker;
  }

  /** Forgets a file, and the worker with its last file. */
  remove(worker: Worker, file: MappedFile): void {
    worker.files.delete(file);
    if (worker.files.size === 0) this.#workers.delete(worker.id);
  }

  /** Checks all workers, at most once a second. A step returns the work that it did. */
  *checking(): Generator<number, void> {
    const nowMs = this.#nowMs();
    if (nowMs - this.#checkedAtMs < CHECK_EVERY_MS) return;
    this.#checkedAtMs = nowMs;
    const pids = yield* this.#findingPids();
    // Without a list of processes, workers stay as they are.
    if (pids === undefined) return;
    const locks = textOf(`${this.#proc}/locks`);
    for (const worker of this.#workers.values())
      if (worker.files.size > 0) yield this.#check(worker, pids, locks, nowMs);
  }

  /** Checks a worker. Returns the work. */
  #check(worker: Worker, pids: ReadonlyMap<string, number>, locks: string, nowMs: number): number {
    const { process: last } = worker;
    if (last !== undefined) {
      if (startTicksOf(last.pid, this.#proc) === last.startTicks) return CHECK_STEPS;
      worker.process = undefined;
      worker.isDead = true;
      worker.dueMs = 0;
    }
    const isLockable = rubyIdOf(worker.id) !== worker.id;
    const holder = isLockable ? this.#holderOf(worker, locks) : undefined;
    if (holder !== undefined) {
      this.#areLocked = true;
      this.#begin(worker, holder);
      return CHECK_STEPS;
    }
    if (isLockable && this.#areLocked) {
      worker.isDead = !worker.isElsewhere;
      return CHECK_STEPS;
    }
    const pidText = rubyIdOf(worker.id);
    const pid = pids.get(pidText);
    if (pid === undefined) {
      if (this.#arePids && PID.test(pidText)) worker.isDead = !worker.isElsewhere;
      return 1;
    }
    if (nowMs < worker.dueMs) return 1;
    worker.dueMs = nowMs + PROVE_EVERY_MS;
    const answer = this.#hasMapped(pid, worker);
    if (answer === 'yes') {
      this.#arePids = true;
      this.#begin(worker, pid);
    } else if (answer === 'no' && this.#arePids) worker.isDead = !worker.isElsewhere;
    return PROVE_STEPS;
  }

  #begin(worker: Worker, pid: number): void {
    const startTicks = startTicksOf(pid, this.#proc);
    if (startTicks === undefined) return;
    worker.process = { pid, startTicks };
    worker.isDead = false;
  }

  #holderOf({ files }: Worker, locks: string): number | undefined {
    if (locks === '') return undefined;
    for (const file of [...files].slice(0, MAX_PROOFS)) {
      const holder = lockHolderOf(locks, file);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  #hasMapped(pid: number, { files }: Worker): ReturnType<typeof hasMapped> {
    let answer: ReturnType<typeof hasMapped> = 'no';
    for (const file of [...files].slice(0, MAX_PROOFS)) {
      answer = hasMapped(`${this.#proc}/${pid}`, file, '.db');
      if (answer !== 'no') return answer;
    }
    return answer;
  }

  /** The PIDs of processes that may be workers, by their PID in the namespace of the workers. */
  *#findingPids(): Generator<number, ReadonlyMap<string, number> | undefined> {
    const found = new Map<string, number>();
    const space = this.#neighbour && linkOf(`${this.#proc}/${this.#neighbour}/ns/pid`);
    let pids: readonly string[];
    try {
      pids = namesIn(this.#proc);
    } catch {
      return undefined;
    }
    yield CHECK_STEPS;
    for (const text of pids) {
      if (!PID.test(text)) continue;
      if (this.#neighbour === undefined) {
        found.set(text, Number(text));
        continue;
      }
      yield CHECK_STEPS;
      if (linkOf(`${this.#proc}/${text}/ns/pid`) !== space) continue;
      const inside = innermostPidOf(textOf(`${this.#proc}/${text}/status`));
      if (inside !== undefined) found.set(inside, Number(text));
    }
    return found;
  }
}
