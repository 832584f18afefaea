// Judges whether the manager of an instance runs: by its process, or by its uptime if the process runs in another PID
// namespace.
import { lstatSync } from 'node:fs';
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, PolledSource, SlotOwner } from '../foreign/polled-source.js';
import { lockHolderOf, startTicksOf, startedUnixMs, textOf } from '../foreign/processes.js';
import type { DeclaredMetric, Verdict } from '../model.js';
import type { SegmentDirectory } from './segment-directory.js';
import type { IndexWriter } from './segment-index.js';
import { SegmentValues } from './stat-segment.js';

/** The name of the manager's process. */
const NAME = 'varnishd';
/** The file in the work directory that a running manager locks. */
const LOCKED = '_.pid';
/**
 * The maximum number of milliseconds from the creation time in the index to the start of the process. A process that
 * started later has reused the manager's PID.
 */
const MAX_EARLY_MS = 10_000;
/**
 * After this time, an unchanged uptime means "dead". A live manager changes its uptime every second, as often as it
 * is polled.
 */
const UPTIME_TIMEOUT_MS = 3000;

export class VarnishManager {
  readonly #writer: IndexWriter;
  readonly #path: string;
  readonly #nowMs: () => number;
  readonly #proc: string;
  /** The start time of the manager's process; undefined if it runs in another PID namespace. */
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

  /** Judges whether the manager runs. @param uptime reads the uptime; needed if the manager runs in another PID namespace */
  judge(uptime: () => bigint | undefined): Verdict {
    const { pid } = this.#writer;
    if (this.#startTicks === undefined) return this.#judgeByUptime(uptime());
    return startTicksOf(pid, this.#proc) === this.#startTicks
      ? { state: 'live', reason: `process ${pid} runs` }
      : { state: 'dead', reason: `varnishd ended without cleaning up: its process ${pid} is gone` };
  }

  #judgeByUptime(uptime: bigint | undefined): Verdict {
    const nowMs = this.#nowMs();
    if (uptime !== undefined && this.#uptime !== undefined && uptime !== this.#uptime)
      this.#changedMs = nowMs;
    this.#uptime = uptime ?? this.#uptime;
    if (nowMs - (this.#changedMs ?? -Infinity) <= UPTIME_TIMEOUT_MS)
      return { state: 'live', reason: 'its uptime increases' };
    if (this.#changedMs === undefined && nowMs - this.#firstMs <= UPTIME_TIMEOUT_MS)
      return { state: 'building', reason: 'its uptime has not increased yet' };
    const { pid } = this.#writer;
    const reason = `varnishd ended or hangs: its process ${pid} is in another PID namespace, and its uptime does not increase`;
    return { state: 'dead', reason };
  }

  /**
   * The start time of the manager's process. Undefined if its PID is unused here or belongs to another process: then
   * the manager runs in another PID namespace.
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
   * Whether the process with the PID is the manager of another work directory; false if /proc/locks is unreadable.
   * /proc/locks lists only locks of the exporter's PID namespace.
   */
  #isLockedByAnother(): boolean {
    const locks = textOf(`${this.#proc}/locks`);
    const file = lstatSync(`${this.#path}/${LOCKED}`, { bigint: true, throwIfNoEntry: false });
    if (locks === '' || file === undefined) return false;
    return lockHolderOf(locks, { device: undefined, inode: file.ino }) !== this.#writer.pid;
  }
}

/** An object with the start time of a Varnish process. The object is removed when the process ends. */
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

/** The uptime in seconds, which the manager counts itself; undefined if it cannot be read. */
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
