// The metrics of a worker's process, with the names and meanings that the libraries give them without multiprocess mode.
import { namesIn } from '../foreign/directory-listing.js';
import { maxDescriptors, processUsage, startedUnixMs } from '../foreign/processes.js';
import type { ProcessUsage } from '../foreign/processes.js';
import type { PolledObject, PolledSource, SlotWriter } from '../foreign/polled-source.js';
import type { Declaration, Variable } from '../model.js';
import type { WorkerProcess } from './worker-processes.js';

const declared = (
  name: string,
  help: string,
  kind: 'gauge' | 'counter' = 'gauge',
): Declaration => ({
  ...{ name, type: 'f64', kind, unit: '', help, schema: [] },
  metric: { name, help, labels: {} },
});

/** The metrics by the value that they show. */
const USAGE: Readonly<Record<keyof ProcessUsage, Declaration>> = {
  virtualBytes: declared('process_virtual_memory_bytes', 'Virtual memory size in bytes.'),
  residentBytes: declared('process_resident_memory_bytes', 'Resident memory size in bytes.'),
  cpuSeconds: declared(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    'counter',
  ),
  threads: declared('process_threads', 'Number of OS threads in the process.'),
};
const START = declared(
  'process_start_time_seconds',
  'Start time of the process since unix epoch in seconds.',
);
const MAX_FDS = declared('process_max_fds', 'Maximum number of open file descriptors.');
const OPEN_FDS = declared('process_open_fds', 'Number of open file descriptors.');
/** The number of objects and variables of a process. */
export const PROCESS_ITEMS = 8;

export class ProcessMetrics {
  readonly owner: WorkerProcess;
  readonly #source: PolledSource;
  readonly #object: PolledObject;
  readonly #proc: string;
  readonly #writer: SlotWriter = { writeSlots: () => undefined };
  readonly #variables = new Map<Declaration, Variable>();

  /** @param labels the labels of the directory, and `pid` */
  constructor(
    source: PolledSource,
    parent: PolledObject,
    labels: Readonly<Record<string, string>>,
    owner: WorkerProcess,
    proc = '/proc',
  ) {
    this.#source = source;
    this.owner = owner;
    this.#proc = proc;
    const name = `${parent.name}.${owner.pid}`;
    this.#object = source.addObject(this.#writer, { name, className: 'Process', labels }, parent);
    this.#set(START, startedUnixMs(owner.startTicks, proc) / 1000);
  }

  /** Reads the current values. What this user may not read has no series. */
  update(): void {
    const { pid } = this.owner;
    const usage = processUsage(pid, this.#proc);
    if (usage === undefined) return;
    for (const [key, declaration] of Object.entries(USAGE))
      this.#set(declaration, usage[key as keyof ProcessUsage]);
    const max = maxDescriptors(pid, this.#proc);
    if (max > 0) this.#set(MAX_FDS, max);
    try {
      this.#set(OPEN_FDS, namesIn(`${this.#proc}/${pid}/fd`).length);
    } catch {
      // Only the process's own user and root may count its descriptors.
    }
  }

  remove(): void {
    this.#source.remove(this.#writer, this.#object);
  }

  #set(declaration: Declaration, value: number): void {
    let variable = this.#variables.get(declaration);
    if (variable === undefined) {
      variable = this.#source.addVariable(this.#writer, this.#object, declaration);
      this.#variables.set(declaration, variable);
    }
    const { slots } = this.#source;
    slots.setDouble(variable.slot, value);
    slots.setSynced(variable.slot, true);
  }
}
