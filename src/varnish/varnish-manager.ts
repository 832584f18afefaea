// Judges whether the manager of an instance runs: by its process, or by its uptime if the process runs in another PID
// namespace.
import { lstatSync } from 'node:fs';
import { hasReusedPid, lockHolderOf, startTicksOf, textOf } from '../foreign/processes.js';
import type { Verdict } from '../model.js';
import type { SegmentDirectory } from './segment-directory.js';
import type { IndexWriter } from './segment-index.js';
import { SegmentValues } from './stat-segment.js';

/** The name of the manager's process. */
const NAME = 'varnishd';
/** The file in the work directory that a running manager locks. */
const LOCKED = '_.pid';
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
    const isOther = hasReusedPid(startTicks, birth * 1000, this.#proc);
    return isOther || this.#isLockedByAnother() ? undefined : startTicks;
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
