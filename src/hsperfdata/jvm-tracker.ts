// The JVMs that are shown: opens the files that come, and lets go of those that end.
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

/** The most files that are open at once. */
const MAX_FILES = 1024;
/** Steps of opening a file, and of asking whether its process runs. */
const OPEN_STEPS = 128;
const ASK_STEPS = 2;
/** How long a file waits for its next look: one that a JVM is making, and any other that is of no use. */
const UNFINISHED_MS = 200;
const USELESS_MS = 5000;
/** Whether processes run is asked this often. */
const ASK_EVERY_MS = 500;
/** A JVM writes the name of its main class soon after its first counters; some have none. */
const NAMELESS_MS = 1000;

/** What tells one JVM from all others: another process in the same file has begun at another moment. */
interface JvmIdentity {
  readonly startTicks: number;
  readonly inode: bigint;
  readonly beganUnixMs: number | undefined;
}

/** A file whose counters are read; not shown if its main class is not wanted. */
interface FollowedJvm extends JvmIdentity {
  readonly pid: number;
  readonly file: CounterFile;
  readonly jvm: Jvm | undefined;
  askedAtMs: number;
}

/** A file that is of no use now. */
interface WaitingJvm {
  readonly firstMs: number;
  readonly untilMs: number;
  /** Empty for one that a JVM is making, that is there twice, or whose JVM ended. */
  readonly refusal: string;
  /** Identity of a file whose JVM is not found here. */
  readonly identity?: string;
}

/** A file that was removed while its JVM runs. */
interface Removed {
  readonly pid: number;
  readonly startTicks: number;
  readonly sinceMs: number;
}

/** A file whose JVM is not found here. */
interface Unowned {
  readonly identity: string;
  /** Whether its counters changed; undefined until there are two digests. */
  readonly isChanged: boolean | undefined;
}

export interface JvmTrackerOptions {
  readonly source: PolledSource;
  readonly root: PolledObject;
  readonly isWanted: (mainClass: string) => boolean;
  readonly isTrusted: (uid: number) => boolean;
  readonly nowMs: () => number;
  /** Whether JVMs in containers are searched for. */
  readonly hasContainers: boolean;
  readonly proc?: string | undefined;
}

export class JvmTracker {
  readonly #parts: JvmTrackerOptions;
  readonly #scratch = { buffer: Buffer.from(new ArrayBuffer(65_536)) };
  readonly #followed = new Map<string, FollowedJvm>();
  readonly #waiting = new Map<string, WaitingJvm>();
  /** Names that were due when this round began, each of which is tried once before the next round. */
  #round: Iterator<string> = [].values();
  /** JVMs that ended and left their files. A process that has the number of one of them now did not write its file. */
  readonly #ended = new Map<string, JvmIdentity>();
  /** Removed files whose JVMs run, by their former paths. */
  readonly #removed = new Map<string, Removed>();
  readonly #changes = new ChangeDetector();
  /** The mount option of /proc that hides the process of a JVM that was left out. */
  #hiding: string | undefined;

  constructor(parts: JvmTrackerOptions) {
    this.#parts = parts;
  }

  /** How many are shown. */
  get count(): number {
    let count = 0;
    for (const { jvm } of this.#followed.values()) if (jvm !== undefined) count++;
    return count;
  }

  /** Why files were left out, one sentence each. */
  get refusals(): readonly string[] {
    const shown = new Set([...this.#followed.values()].map(({ file }) => file.identity.key));
    const refused = [...this.#waiting.values()].flatMap(({ refusal, identity = '' }) =>
      refusal === '' || shown.has(identity) ? [] : refusal,
    );
    // A JVM that ends normally removes its file a moment before.
    const latestMs = this.#parts.nowMs() - USELESS_MS;
    const removed = [...this.#removed].flatMap(([key, { sinceMs }]) =>
      sinceMs > latestMs
        ? []
        : `${key} was removed while its JVM runs: exclude the directory from clean-ups (tmpfiles.d: x /tmp/hsperfdata_*)`,
    );
    return [...refused, ...removed];
  }

  /** Warnings that concern no single file, one sentence each. */
  get warnings(): readonly string[] {
    if (this.#hiding === undefined) return [];
    return [
      `/proc hides the processes of other users (${this.#hiding}), so their JVMs are left out: ${UNHIDE}`,
    ];
  }

  /**
   * Follows these files and no others, as far as the budget allows; returns whether more of this round are to be
   * opened. Names of processes that do not run may be very many, and are due again and again.
   */
  follow(files: readonly FoundFile[], budget: Budget): boolean {
    const wanted = new Map(files.map((found) => [keyOf(found), found]));
    for (const [key, followed] of this.#followed)
      if (!wanted.has(key) || this.#hasEnded(followed, budget)) this.#end(key);
    for (const known of [this.#waiting, this.#ended])
      for (const key of known.keys())
        if (!wanted.has(key)) {
          known.delete(key);
          this.#changes.forget(key);
        }
    for (const [key, { pid, startTicks }] of this.#removed)
      if (this.#followed.has(key) || startTicksOf(pid, this.#parts.proc) !== startTicks)
        this.#removed.delete(key);
    const isNew = (key: string): boolean => !this.#followed.has(key) && this.#isDue(key);
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
    for (const key of [...this.#followed.keys()]) this.#end(key);
  }

  #isDue(key: string): boolean {
    return (this.#waiting.get(key)?.untilMs ?? -Infinity) <= this.#parts.nowMs();
  }

  #hasEnded(followed: FollowedJvm, budget: Budget): boolean {
    const { pid, startTicks, file, jvm } = followed;
    jvm?.grow();
    if (jvm?.isLost === true) return true;
    const nowMs = this.#parts.nowMs();
    if (nowMs - followed.askedAtMs < ASK_EVERY_MS) return false;
    followed.askedAtMs = nowMs;
    budget.spend(ASK_STEPS);
    return file.isUnlinked || startTicksOf(pid, this.#parts.proc) !== startTicks;
  }

  #begin(key: string, found: FoundFile, budget: Budget): void {
    const startTicks = startTicksOf(found.pid, this.#parts.proc);
    const before = this.#waiting.get(key);
    const nowMs = this.#parts.nowMs();
    const firstMs = before?.firstMs ?? nowMs;
    const wait = (ms: number, more: Partial<WaitingJvm> = {}): void => {
      this.#waiting.set(key, { firstMs, refusal: '', ...more, untilMs: nowMs + ms });
    };
    const waitOn = (): void => {
      wait(nowMs - firstMs < USELESS_MS ? UNFINISHED_MS : USELESS_MS);
    };
    // There may be very many files without a running process: only a few are opened and compared at a time.
    const isOpened = startTicks !== undefined || this.#changes.hasRoom(key);
    budget.spend(isOpened ? OPEN_STEPS : ASK_STEPS);
    if (!isOpened) {
      waitOn();
      return;
    }
    try {
      const mayBeNameless = nowMs - firstMs >= NAMELESS_MS;
      const opened = this.#opened(key, found, startTicks, mayBeNameless);
      if (opened === undefined) {
        waitOn();
      } else if ('file' in opened) {
        this.#waiting.delete(key);
        this.#changes.forget(key);
        this.#followed.set(key, opened);
      } else if (opened.isChanged === undefined) {
        wait(UNFINISHED_MS, before);
      } else if (opened.isChanged) {
        const refusal = `${pathOf(found.place)}/${found.name} ${this.#whyUnowned(found)}`;
        wait(USELESS_MS, { refusal, identity: opened.identity });
      } else {
        waitOn();
      }
    } catch (error) {
      if (isGone(error)) wait(UNFINISHED_MS);
      else if (startTicks === undefined && hidingOption(this.#parts.proc) === undefined) waitOn();
      else {
        const refusal = `${pathOf(found.place)}/${found.name} ${unreadableReason(error)}`;
        wait(USELESS_MS, { refusal });
      }
    }
  }

  /** Why the JVM of a file is not found, and what to do. */
  #whyUnowned({ name }: FoundFile): string {
    const { hasContainers, proc } = this.#parts;
    const option = hidingOption(proc);
    if (option !== undefined) {
      this.#hiding = option;
      return `belongs to a JVM whose process /proc hides (${option}): ${UNHIDE}`;
    }
    const what = `belongs to a JVM of another PID namespace, not to process ${name} of this one`;
    return hasContainers
      ? `${what}: the exporter needs the PID namespace of the host, and root or CAP_SYS_PTRACE`
      : `${what}: containers = true finds it`;
  }

  /**
   * Opens a file and shows its JVM; undefined if there is none to show yet, or any more.
   * @throws Fault or Error for a file that is of no use
   */
  #opened(
    key: string,
    found: FoundFile,
    startTicks: number | undefined,
    mayBeNameless: boolean,
  ): FollowedJvm | Unowned | undefined {
    const { pid, name } = found;
    const { source, root, isWanted, isTrusted, nowMs, proc } = this.#parts;
    if (startTicks !== undefined && this.#followed.size >= MAX_FILES)
      throw refused(`is one more than ${MAX_FILES} files`);
    const file = withDirectory(
      found.place,
      ({ path, uid }) => new CounterFile(`${path}/${name}`, uid),
    );
    let isKept = false;
    try {
      const { identity } = file;
      if (!isTrusted(identity.uid))
        throw refused(`belongs to user ${identity.uid}, who is not trusted`);
      if (this.#isOpen(identity.key)) return undefined;
      if (startTicks === undefined) return this.#unowned(key, file);
      const data = PerfData.of(file, this.#scratch);
      if (data === undefined || (data.mainClass === undefined && !mayBeNameless)) return undefined;
      const { beganUnixMs } = data;
      const its: JvmIdentity = { startTicks, inode: identity.inode, beganUnixMs };
      if (isLeftBy(this.#ended.get(key), its)) return undefined;
      const isShown = isWanted(data.mainClass ?? '');
      const isIts = isJvmOf({ pid, name, startTicks, beganUnixMs, ...identity }, proc);
      if (isIts !== 'yes') {
        const unowned = this.#unowned(key, file);
        // What a killed JVM left behind never changes.
        if (isIts === 'no' || unowned?.isChanged !== true) return unowned;
      }
      if (isShown && !source.hasRoom(data.entries.size))
        throw refused('is one too many: segment_max_items are shown already');
      const jvm = isShown ? new Jvm(source, root, pid, data) : undefined;
      isKept = true;
      return { pid, ...its, file, jvm, askedAtMs: nowMs() };
    } finally {
      if (!isKept) file.close();
    }
  }

  /**
   * Compares a file without a known JVM with its last digest; undefined if it is not whole, or its JVM not wanted.
   * @throws Fault for content that no JVM writes
   */
  #unowned(key: string, file: CounterFile): Unowned | undefined {
    const isChanged = this.#changes.changed(key, file.digest());
    if (isChanged === true) {
      const data = PerfData.of(file, this.#scratch);
      if (data === undefined || !this.#parts.isWanted(data.mainClass ?? '')) return undefined;
    }
    return { identity: file.identity.key, isChanged };
  }

  /** Whether the same file is read under another name. */
  #isOpen(identity: string): boolean {
    for (const { file } of this.#followed.values()) if (file.identity.key === identity) return true;
    return false;
  }

  #end(key: string): void {
    const followed = this.#followed.get(key);
    if (followed === undefined) return;
    this.#followed.delete(key);
    const { startTicks, inode, beganUnixMs } = followed;
    this.#ended.set(key, { startTicks, inode, beganUnixMs });
    const isRemoved = followed.file.isUnlinked && followed.jvm?.isLost === false;
    if (isRemoved && this.#removed.size < MAX_FILES)
      this.#removed.set(key, { pid: followed.pid, startTicks, sinceMs: this.#parts.nowMs() });
    followed.jvm?.leave();
    followed.file.close();
  }
}

/** What to do if /proc hides processes. */
const UNHIDE =
  'give the exporter CAP_SYS_PTRACE or the group of the mount option gid= of /proc, and its unit ProtectProc=default';

/** Whether a file holds what a JVM left that ended, and the process of its number is another one. */
const isLeftBy = (ended: JvmIdentity | undefined, now: JvmIdentity): boolean =>
  ended?.inode === now.inode &&
  ended.beganUnixMs === now.beganUnixMs &&
  ended.startTicks !== now.startTicks;

const keyOf = ({ place, name }: FoundFile): string => `${pathOf(place)}/${name}`;

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);
