// Judges whether the manager of an instance runs: by its process, or by its uptime counter if that is out of sight.
import { lstatSync } from 'node:fs';
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, PolledSource, SlotOwner } from '../foreign/polled-source.js';
import { lockHolderOf, startTicksOf, startedUnixMs, textOf } from '../foreign/processes.js';
import type { DeclaredMetric, Verdict } from '../model.js';
import type { SegmentDirectory } from './segment-directory.js';
import type { IndexWriter } from './segment-index.js';
import { SegmentValues } from './stat-segment.js';

/** Name of the manager's process. */
const NAME = 'varnishd';
/** The file in its work directory that a running manager locks. */
const LOCKED = '_.pid';
/**
 * A manager writes its index soon after its start. A process that started more than this time after the birth stated in
 * the index is another one, which reused the PID.
 */
const MAX_EARLY_MS = 10_000;
/** Time without a change of the uptime that counts as dead: it changes each second, and is polled each second. */
const UPTIME_TIMEOUT_MS = 3000;

export class VarnishManager {
  readonly #writer: IndexWriter;
  readonly #path: string;
  readonly #nowMs: () => number;
  readonly #proc: string;
  /** Start of the manager's process; undefined if it belongs to another PID namespace. */
  readonly #startTicks: number | undefined;
  readonly #firstMs: number;
  #uptime: bigint | undefined;
  #changedMs: number | undefined;

  /**
   * @param path the work directory of the manager
   * @param nowMs milliseconds of a monotonic clock
   */
  constructor(writer: IndexWriter, path: string, nowMs: () => number, proc = '/proc') {
    this.#writer = writer;
    this.#path = path;
    this.#nowMs = nowMs;
    this.#proc = proc;
    this.#firstMs = nowMs();
    this.#startTicks = this.#processStart();
  }

  /** Whether the manager runs in another PID namespace. */
  get isElsewhere(): boolean {
    return this.#startTicks === undefined;
  }

  /** @param uptime reads the uptime; used if the process is out of sight */
  judge(uptime: () => bigint | undefined): Verdict {
    const { pid } = this.#writer;
    if (this.#startTicks === undefined) return this.#judgeByUptime(uptime());
    return startTicksOf(pid, this.#proc) === this.#startTicks
      ? { state: 'live', reason: `process ${pid} runs` }
      : { state: 'dead', reason: `varnishd ended without tidying up: its process ${pid} is gone` };
  }

  #judgeByUptime(uptime: bigint | undefined): Verdict {
    const nowMs = this.#nowMs();
    if (uptime !== undefined && this.#uptime !== undefined && uptime !== this.#uptime)
      this.#changedMs = nowMs;
    this.#uptime = uptime ?? this.#uptime;
    if (nowMs - (this.#changedMs ?? -Infinity) <= UPTIME_TIMEOUT_MS)
      return { state: 'live', reason: 'its uptime moves' };
    if (this.#changedMs === undefined && nowMs - this.#firstMs <= UPTIME_TIMEOUT_MS)
      return { state: 'building', reason: 'its uptime has not been seen to move yet' };
    const { pid } = this.#writer;
    const reason = `varnishd ended or hangs: its process ${pid} is not one of this PID namespace, and its uptime stands still`;
    return { state: 'dead', reason };
  }

  /**
   * The start of the manager's process; undefined if the PID belongs to another process, since the manager runs in
   * another PID namespace.
   */
  #processStart(): number | undefined {
    const { pid, birth } = this.#writer;
    const startTicks = startTicksOf(pid, this.#proc);
    if (startTicks === undefined || textOf(`${this.#proc}/${pid}/comm`).trim() !== NAME)
      return undefined;
    const isLater = startedUnixMs(startTicks, this.#proc) > birth * 1000 + MAX_EARLY_MS;
    return isLater || this.#isLockedByAnother() ? undefined : startTicks;
  }

  /**
   * Whether the process with the PID is the manager of another work directory. /proc/locks lists only locks of this
   * PID namespace. False if it cannot be read.
   */
  #isLockedByAnother(): boolean {
    const locks = textOf(`${this.#proc}/locks`);
    const file = lstatSync(`${this.#path}/${LOCKED}`, { bigint: true, throwIfNoEntry: false });
    if (locks === '' || file === undefined) return false;
    return lockHolderOf(locks, { device: undefined, inode: file.ino }) !== this.#writer.pid;
  }
}

/** The start time of a process of Varnish, as an object that ends with the process. */
export class StartTime implements SlotOwner {
  readonly #source: PolledSource;
  readonly #object: PolledObject;

  /** @param unixSeconds the start time */
  constructor(
    source: PolledSource,
    root: PolledObject,
    { name, metric }: { readonly name: string; readonly metric: DeclaredMetric },
    unixSeconds: number,
  ) {
    this.#source = source;
    const facts = { name: `${root.name}.${name}`, className: 'process' };
    this.#object = source.addObject(this, facts, root);
    const declaration = gauge('started', 'u64', 'seconds', metric);
    const { slot } = source.addVariable(this, this.#object, declaration);
    source.slots.setFirst(slot, BigInt(unixSeconds));
  }

  refresh(): void {
    // It never changes.
  }

  remove(): void {
    this.#source.remove(this, this.#object);
  }
}

const IDENT = 'MGT';
const UPTIME = 'uptime';

/** The uptime of a manager in seconds, counted by itself each second; undefined if it is not readable. */
export function uptimeOf(directory: SegmentDirectory): bigint | undefined {
  try {
    for (const entry of directory.index.entries) {
      if (entry.className !== 'Stat' || entry.ident !== IDENT) continue;
      const header = directory.headerAt(entry);
      const schema = header && directory.schema(header.schemaId);
      const field = schema?.fields.find(({ name }) => name === UPTIME);
      if (header === undefined || schema === undefined || field === undefined) continue;
      const values = new SegmentValues(directory, entry, header, schema);
      if (values.copy()) return values.valueOf(field);
    }
  } catch {
    // An unreadable uptime counts as a missing one.
  }
  return undefined;
}
