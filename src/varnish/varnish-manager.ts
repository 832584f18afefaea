// Whether the manager of an instance runs: seen among the processes of this system, or else by its beat.
import { readFileSync } from 'node:fs';
import { startedUnixMs, startTicksOf } from '../foreign/processes.js';
import type { Verdict } from '../model.js';
import type { IndexWriter } from './segment-index.js';

/** The name of its process. */
const NAME = 'varnishd';
/** It writes its index soon after it started; one that began later than this is another one. */
const MAX_EARLY_MS = 10_000;
/** It beats each second, and each second somebody looks: two of these need not meet within two seconds. */
const BEAT_MS = 3000;

export class VarnishManager {
  readonly #writer: IndexWriter;
  readonly #nowMs: () => number;
  readonly #proc: string;
  /** The start of its process, where that is one of this system. */
  readonly #startTicks: number | undefined;
  readonly #firstMs: number;
  #beat: bigint | undefined;
  #movedMs: number | undefined;

  /** @param nowMs milliseconds of a clock that does not step */
  constructor(writer: IndexWriter, nowMs: () => number, proc = '/proc') {
    this.#writer = writer;
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
    if (startTicks === undefined || this.#nameOf(pid) !== NAME) return undefined;
    const isLater = startedUnixMs(startTicks, this.#proc) > birth * 1000 + MAX_EARLY_MS;
    return isLater ? undefined : startTicks;
  }

  #nameOf(pid: number): string {
    try {
      return readFileSync(`${this.#proc}/${pid}/comm`, 'latin1').trim();
    } catch {
      return '';
    }
  }
}
