// Tracks the JVMs of counter files: opens new files, and removes JVMs that have ended.
import type { Budget } from '../budget.js';
import { Fault } from '../errors.js';
import { ChangeDetector, CounterFile } from './counter-file.js';
import { Jvm } from './jvm.js';
import type { FoundFile } from './jvm-discovery.js';
import { hidingOption, startTicksOf } from '../foreign/processes.js';
import { withDirectory, isGone, pathOf, unreadableReason } from '../foreign/verified-file.js';
import { isJvmOf } from './counter-file-writer.js';
import type { PolledObject, PolledSource } from '../foreign/polled-source.js';
import { PerfData } from './perf-data.js';

/** The maximum number of files that are open at the same time. */
const MAX_FILES = 1024;
/** The budget steps for opening a file, and for checking whether its process runs. */
const OPEN_STEPS = 128;
const CHECK_STEPS = 2;
/** The time until the next attempt: for a file that a JVM is still creating, and for a file that is unusable. */
const RETRY_UNFINISHED_MS = 200;
const RETRY_UNUSABLE_MS = 5000;
/** The time between two checks whether a process runs, in milliseconds. */
const CHECK_EVERY_MS = 500;
/** The time that a JVM has to write the name of its main class. Some JVMs never write a name. */
const MAIN_CLASS_TIMEOUT_MS = 1000;

/** Distinguishes a JVM from earlier JVMs with the same file name. */
interface JvmIdentity {
  readonly startTicks: number;
  readonly inode: bigint;
  readonly jvmStartUnixMs: number | undefined;
}

/** An open file. The field `jvm` is undefined if the configuration excludes the JVM's main class. */
interface TrackedJvm extends JvmIdentity {
  readonly pid: number;
  readonly file: CounterFile;
  readonly jvm: Jvm | undefined;
  checkedAtMs: number;
}

/** An unusable file, and the time of the next attempt. */
interface WaitingFile {
  readonly firstMs: number;
  readonly untilMs: number;
  /**
   * The reason to report. Empty if a JVM is still creating the file, if the file has a second name, or if its JVM has
   * ended.
   */
  readonly refusal: string;
  /** The identity of the file if its JVM was not found. */
  readonly identity?: string;
}

/** A removed file whose JVM still runs. */
interface RemovedFile {
  readonly pid: number;
  readonly startTicks: number;
  readonly sinceMs: number;
}

/** A file whose JVM was not found. */
interface UnownedFile {
  readonly identity: string;
  /** Whether the counters changed; undefined before the second digest. */
  readonly isChanged: boolean | undefined;
}

export interface JvmTrackerOptions {
  readonly source: PolledSource;
  readonly root: PolledObject;
  readonly isWanted: (mainClass: string) => boolean;
  readonly isTrusted: (uid: number) => boolean;
  readonly nowMs: () => number;
  /** Whether the exporter also searches containers for JVMs. */
  readonly hasContainers: boolean;
  readonly proc?: string | undefined;
}

export class JvmTracker {
  readonly #options: JvmTrackerOptions;
  readonly #scratch = { buffer: Buffer.from(new ArrayBuffer(65_536)) };
  readonly #trackedJvms = new Map<string, TrackedJvm>();
  readonly #waitingFiles = new Map<string, WaitingFile>();
  /** The files that this round has yet to try. A round tries every file that was due when the round began, once. */
  #round: Iterator<string> = [].values();
  /** Ended JVMs whose files still exist. A process that reuses the PID did not write the file. */
  readonly #endedJvms = new Map<string, JvmIdentity>();
  /** Removed files of running JVMs, by their former paths. */
  readonly #removedFiles = new Map<string, RemovedFile>();
  readonly #changes = new ChangeDetector();
  /** The mount option of /proc that hid the process of a JVM. */
  #hidingOption: string | undefined;

  constructor(options: JvmTrackerOptions) {
    this.#options = options;
  }

  /** The number of JVMs in the tree. */
  get count(): number {
    let count = 0;
    for (const { jvm } of this.#trackedJvms.values()) if (jvm !== undefined) count++;
    return count;
  }

  /** The reasons why files were skipped, one sentence each. */
  get refusals(): readonly string[] {
    const shown = new Set([...this.#trackedJvms.values()].map(({ file }) => file.identity.key));
    const refused = [...this.#waitingFiles.values()].flatMap(({ refusal, identity = '' }) =>
      refusal === '' || shown.has(identity) ? [] : refusal,
    );
    // At a normal exit, a JVM removes its file shortly before its process ends.
    const latestMs = this.#options.nowMs() - RETRY_UNUSABLE_MS;
    const removed = [...this.#removedFiles].flatMap(([key, { sinceMs }]) =>
      sinceMs > latestMs
        ? []
        : `${key} was removed although its JVM still runs: exclude the directory from clean-ups (tmpfiles.d: x /tmp/hsperfdata_*)`,
    );
    return [...refused, ...removed];
  }

  /** Warnings that do not concern a single file, one sentence each. */
  get warnings(): readonly string[] {
    if (this.#hidingOption === undefined) return [];
    return [
      `/proc hides the processes of other users (${this.#hidingOption}), so their JVMs are left out: ${UNHIDE}`,
    ];
  }

  /**
   * Replaces the set of tracked files, within the budget. Returns whether this round has more files to try. Rounds
   * ensure that repeated checks of many files without a running process do not delay the other files.
   */
  track(files: readonly FoundFile[], budget: Budget): boolean {
    const wanted = new Map(files.map((found) => [keyOf(found), found]));
    for (const [key, tracked] of this.#trackedJvms)
      if (!wanted.has(key) || this.#hasEnded(tracked, budget)) this.#end(key);
    for (const known of [this.#waitingFiles, this.#endedJvms])
      for (const key of known.keys())
        if (!wanted.has(key)) {
          known.delete(key);
          this.#changes.forget(key);
        }
    for (const [key, { pid, startTicks }] of this.#removedFiles)
      if (this.#trackedJvms.has(key) || startTicksOf(pid, this.#options.proc) !== startTicks)
        this.#removedFiles.delete(key);
    const isNew = (key: string): boolean => !this.#trackedJvms.has(key) && this.#isDue(key);
    let next = this.#round.next();
    if (next.done === true) {
      this.#round = [...wanted.keys()].filter(isNew).values();
      next = this.#round.next();
    }
    for (; next.done !== true; next = this.#round.next()) {
      const found = wanted.get(next.value);
      if (found !== undefined && isNew(next.value)) this.#begin(next.value, found, budget);
      if (budget.isSpent) return true;
    }
    return false;
  }

  close(): void {
    for (const key of [...this.#trackedJvms.keys()]) this.#end(key);
  }

  #isDue(key: string): boolean {
    return (this.#waitingFiles.get(key)?.untilMs ?? -Infinity) <= this.#options.nowMs();
  }

  #hasEnded(tracked: TrackedJvm, budget: Budget): boolean {
    const { pid, startTicks, file, jvm } = tracked;
    jvm?.addNewCounters();
    // A JVM that names its main class late is dropped here and added again, with the name in its labels.
    if (jvm?.isLost === true || jvm?.data.isNamedLate === true) return true;
    const nowMs = this.#options.nowMs();
    if (nowMs - tracked.checkedAtMs < CHECK_EVERY_MS) return false;
    tracked.checkedAtMs = nowMs;
    budget.spend(CHECK_STEPS);
    return file.isUnlinked || startTicksOf(pid, this.#options.proc) !== startTicks;
  }

  #begin(key: string, found: FoundFile, budget: Budget): void {
    const startTicks = startTicksOf(found.pid, this.#options.proc);
    const before = this.#waitingFiles.get(key);
    const nowMs = this.#options.nowMs();
    const firstMs = before?.firstMs ?? nowMs;
    const wait = (ms: number, more: Partial<WaitingFile> = {}): void => {
      this.#waitingFiles.set(key, { firstMs, refusal: '', ...more, untilMs: nowMs + ms });
    };
    const waitOn = (): void => {
      wait(nowMs - firstMs < RETRY_UNUSABLE_MS ? RETRY_UNFINISHED_MS : RETRY_UNUSABLE_MS);
    };
    // Files without a running process may be numerous: only a few are opened and compared at a time.
    const isOpened = startTicks !== undefined || this.#changes.hasRoom(key);
    budget.spend(isOpened ? OPEN_STEPS : CHECK_STEPS);
    if (!isOpened) {
      waitOn();
      return;
    }
    try {
      const mayBeNameless = nowMs - firstMs >= MAIN_CLASS_TIMEOUT_MS;
      const opened = this.#open(key, found, startTicks, mayBeNameless);
      if (opened === undefined) {
        waitOn();
      } else if ('file' in opened) {
        this.#waitingFiles.delete(key);
        this.#changes.forget(key);
        this.#trackedJvms.set(key, opened);
      } else if (opened.isChanged === undefined) {
        wait(RETRY_UNFINISHED_MS, before);
      } else if (opened.isChanged) {
        const refusal = `${pathOf(found.place)}/${found.name} ${this.#whyUnowned(found)}`;
        wait(RETRY_UNUSABLE_MS, { refusal, identity: opened.identity });
      } else {
        waitOn();
      }
    } catch (error) {
      if (isGone(error)) wait(RETRY_UNFINISHED_MS);
      else if (startTicks === undefined && hidingOption(this.#options.proc) === undefined) waitOn();
      else {
        const refusal = `${pathOf(found.place)}/${found.name} ${unreadableReason(error)}`;
        wait(RETRY_UNUSABLE_MS, { refusal });
      }
    }
  }

  /** The reason why the JVM of a file was not found, and the remedy. */
  #whyUnowned({ name }: FoundFile): string {
    const { hasContainers, proc } = this.#options;
    const option = hidingOption(proc);
    if (option !== undefined) {
      this.#hidingOption = option;
      return `belongs to a JVM whose process is hidden in /proc (${option}): ${UNHIDE}`;
    }
    const what = `belongs to a JVM in another PID namespace, not to process ${name} in this one`;
    return hasContainers
      ? `${what}: the exporter needs the PID namespace of the host, and root or CAP_SYS_PTRACE`
      : `${what}: set containers = true to show it`;
  }

  /**
   * Opens a file and adds its JVM to the tree; undefined if the JVM is not ready yet or has ended.
   * @throws Fault or Error for an unusable file
   */
  #open(
    key: string,
    found: FoundFile,
    startTicks: number | undefined,
    mayBeNameless: boolean,
  ): TrackedJvm | UnownedFile | undefined {
    const { pid, name } = found;
    const { source, root, isWanted, isTrusted, nowMs, proc } = this.#options;
    if (startTicks !== undefined && this.#trackedJvms.size >= MAX_FILES)
      throw refused(`exceeds the limit of ${MAX_FILES} counter files`);
    const file = withDirectory(
      found.place,
      ({ path, uid }) => new CounterFile(`${path}/${name}`, uid),
    );
    let isKept = false;
    try {
      const { identity, device } = file;
      if (!isTrusted(identity.uid))
        throw refused(`belongs to user ${identity.uid}, who is not in trusted_owners`);
      if (this.#isOpen(identity.key)) return undefined;
      if (startTicks === undefined) return this.#unowned(key, file);
      const data = PerfData.of(file, this.#scratch);
      if (data === undefined) return undefined;
      const isShown = isWanted(data.mainClass ?? '');
      // A slow JVM may still write a name that the configuration includes.
      if (data.mainClass === undefined && !(mayBeNameless && isShown)) return undefined;
      const { jvmStartUnixMs } = data;
      const its: JvmIdentity = { startTicks, inode: identity.inode, jvmStartUnixMs };
      if (isLeftBy(this.#endedJvms.get(key), its)) return undefined;
      const isIts = isJvmOf({ pid, name, startTicks, jvmStartUnixMs, device, ...identity }, proc);
      if (isIts !== 'yes') {
        const unowned = this.#unowned(key, file);
        // A file that a killed JVM left behind never changes.
        if (isIts === 'no' || unowned?.isChanged !== true) return unowned;
      }
      if (isShown && !source.hasRoom(data.entries.size))
        throw refused('would exceed segment_max_items');
      const jvm = isShown ? new Jvm(source, root, pid, data) : undefined;
      isKept = true;
      return { pid, ...its, file, jvm, checkedAtMs: nowMs() };
    } finally {
      if (!isKept) file.close();
    }
  }

  /**
   * Compares the digest of a file with its first digest, if the JVM of the file is unknown. Undefined if the file is
   * incomplete, or if the configuration excludes the JVM's main class.
   * @throws Fault for content that no JVM writes
   */
  #unowned(key: string, file: CounterFile): UnownedFile | undefined {
    const isChanged = this.#changes.changed(key, file.digest());
    if (isChanged === true) {
      const data = PerfData.of(file, this.#scratch);
      if (data === undefined || !this.#options.isWanted(data.mainClass ?? '')) return undefined;
    }
    return { identity: file.identity.key, isChanged };
  }

  /** Whether a tracked JVM has the same file open under another name. */
  #isOpen(identity: string): boolean {
    for (const { file } of this.#trackedJvms.values())
      if (file.identity.key === identity) return true;
    return false;
  }

  #end(key: string): void {
    const tracked = this.#trackedJvms.get(key);
    if (tracked === undefined) return;
    this.#trackedJvms.delete(key);
    const { startTicks, inode, jvmStartUnixMs } = tracked;
    this.#endedJvms.set(key, { startTicks, inode, jvmStartUnixMs });
    const isRemoved = tracked.file.isUnlinked && tracked.jvm?.isLost === false;
    if (isRemoved && this.#removedFiles.size < MAX_FILES)
      this.#removedFiles.set(key, { pid: tracked.pid, startTicks, sinceMs: this.#options.nowMs() });
    tracked.jvm?.remove();
    tracked.file.close();
  }
}

/** The remedy if a mount option of /proc hides processes. */
const UNHIDE =
  'give the exporter CAP_SYS_PTRACE or the group in the mount option gid= of /proc, and set ProtectProc=default in its unit';

/** Whether an ended JVM left the file behind, and another process has reused the JVM's PID. */
const isLeftBy = (ended: JvmIdentity | undefined, now: JvmIdentity): boolean =>
  ended?.inode === now.inode &&
  ended.jvmStartUnixMs === now.jvmStartUnixMs &&
  ended.startTicks !== now.startTicks;

const keyOf = ({ place, name }: FoundFile): string => `${pathOf(place)}/${name}`;

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);
