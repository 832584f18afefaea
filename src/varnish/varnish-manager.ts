// Whether the manager of an instance runs, and since when: by its process, or else by its beat.
import { lstatSync } from 'node:fs';
import type { PolledObject, PolledSource, SlotOwner } from '../foreign/polled-source.js';
import { lockHolderOf, startTicksOf, startedUnixMs, textOf } from '../foreign/processes.js';
import type { StatedMetric, Verdict } from '../model.js';
import type { SegmentDirectory } from './segment-directory.js';
import type { IndexWriter } from './segment-index.js';
import { SegmentValues } from './stat-segment.js';

/** The name of its process. */
const NAME = 'varnishd';
/** The file in its work directory that it locks as long as it runs. */
const LOCKED = '_.pid';
/** It writes its index soon after it started; one that began later than this is another one. */
const MAX_EARLY_MS = 10_000;
/** It beats each second, and each second somebody looks: two of these need not meet within two seconds. */
const BEAT_MS = 3000;

export class VarnishManager {
  readonly #writer: IndexWriter;
  readonly #path: string;
  readonly #nowMs: () => number;
  readonly #proc: string;
  /** The start of its process, where that is one of this system. */
  readonly #startTicks: number | undefined;
  readonly #firstMs: number;
  #beat: bigint | undefined;
  #movedMs: number | undefined;

  /**
   * @param path its work directory
   * @param nowMs milliseconds of a clock that does not step
   */
  constructor(writer: IndexWriter, path: string, nowMs: () => number, proc = '/proc') {
    this.#writer = writer;
    this.#path = path;
    this.#nowMs = nowMs;
    this.#proc = proc;
    this.#firstMs = nowMs();
    this.#startTicks = this.#ownProcess();
  }

  /** Whether the PID of the manager is not that of its process in this PID namespace. */
  get isElsewhere(): boolean {
    return this.#startTicks === undefined;
  }

  /** @param beat its uptime, asked for where its process cannot be seen */
  judge(beat: () => bigint | undefined): Verdict {
    const { pid } = this.#writer;
    if (this.#startTicks === undefined) return this.#byBeat(beat());
    return startTicksOf(pid, this.#proc) === this.#startTicks
      ? { state: 'live', reason: `process ${pid} runs` }
      : { state: 'dead', reason: `varnishd ended without tidying up: its process ${pid} is gone` };
  }

  #byBeat(beat: bigint | undefined): Verdict {
    const nowMs = this.#nowMs();
    if (beat !== undefined && this.#beat !== undefined && beat !== this.#beat)
      this.#movedMs = nowMs;
    this.#beat = beat ?? this.#beat;
    if (nowMs - (this.#movedMs ?? -Infinity) <= BEAT_MS)
      return { state: 'live', reason: 'its uptime moves' };
    if (this.#movedMs === undefined && nowMs - this.#firstMs <= BEAT_MS)
      return { state: 'building', reason: 'its uptime has not been seen to move yet' };
    const { pid } = this.#writer;
    const reason = `varnishd ended or hangs: its process ${pid} is not one of this PID namespace, and its uptime stands still`;
    return { state: 'dead', reason };
  }

  /** When the process of its number started, if that can be it: one of a container may have the number of another here. */
  #ownProcess(): number | undefined {
    const { pid, birth } = this.#writer;
    const startTicks = startTicksOf(pid, this.#proc);
    if (startTicks === undefined || textOf(`${this.#proc}/${pid}/comm`).trim() !== NAME)
      return undefined;
    const isLater = startedUnixMs(startTicks, this.#proc) > birth * 1000 + MAX_EARLY_MS;
    return isLater || this.#isLockedByAnother() ? undefined : startTicks;
  }

  /**
   * Whether the process of its number, a varnishd, is that of another work directory. /proc/locks has no locks of
   * other PID namespaces. Where it cannot be read, nothing is known.
   */
  #isLockedByAnother(): boolean {
    const locks = textOf(`${this.#proc}/locks`);
    const file = lstatSync(`${this.#path}/${LOCKED}`, { bigint: true, throwIfNoEntry: false });
    if (locks === '' || file === undefined) return false;
    return lockHolderOf(locks, { device: undefined, inode: file.ino }) !== this.#writer.pid;
  }
}

// When a process of Varnish began, as an object of its own: it goes with the process.
export class StartTime implements SlotOwner {
  readonly #source: PolledSource;
  readonly #object: PolledObject;

  /** @param unixSeconds when it began */
  constructor(
    source: PolledSource,
    root: PolledObject,
    { name, metric }: { readonly name: string; readonly metric: StatedMetric },
    unixSeconds: number,
  ) {
    this.#source = source;
    const facts = { name: `${root.name}.${name}`, className: 'process' };
    this.#object = source.addObject(this, facts, root);
    const { help } = metric;
    const declared = { name: 'started', type: 'u64', kind: 'gauge', unit: 'seconds' } as const;
    const declaration = { ...declared, help, schema: [], metric };
    const { slot } = source.addVariable(this, this.#object, declaration);
    source.slots.set(slot, BigInt(unixSeconds));
    source.slots.setSynced(slot, true);
  }

  refresh(): void {
    // It never changes.
  }

  leave(): void {
    this.#source.remove(this, this.#object);
  }
}

// The beat of a manager: its uptime, which it counts up each second.
const IDENT = 'MGT';
const UPTIME = 'uptime';

/** The seconds that a manager has counted; undefined where it has not made its counters yet. */
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
    // What cannot be read beats no more than what is not there.
  }
  return undefined;
}
