// One directory with the metric files of an application: opens and reads its files, and shows their metrics.
import { lstatSync } from 'node:fs';
import { codeOf } from '../errors.js';
import { CachedRead, readingNames, truncationWarning } from '../foreign/directory-listing.js';
import type { Clocks, DirectoryNames } from '../foreign/directory-listing.js';
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, PolledSource, SlotWriter } from '../foreign/polled-source.js';
import { VerifiedFile, isGone, pathOf, unreadableReason } from '../foreign/verified-file.js';
import type { FileTrust, OpenDirectory } from '../foreign/verified-file.js';
import type { MappedFile } from '../foreign/processes.js';
import type { Declaration, Variable } from '../model.js';
import type { FoundDirectory } from './directory-finder.js';
import { parseFileName, rubyIdOf } from './file-name.js';
import { MetricValues } from './file-values.js';
import type { FileContext } from './file-values.js';
import { MAX_FILE_BYTES } from './metric-file.js';
import { MergedMetrics, isLive } from './merged-metrics.js';
import { PROCESS_ITEMS, ProcessMetrics } from './process-metrics.js';
import type { TrustedDirectory } from './trusted-directory.js';
import { WorkerProcesses } from './worker-processes.js';
import type { Worker } from './worker-processes.js';

/** The age from which on a file should have a header: a new file has none. */
const EMPTY_MS = 5000;

/** What the directories of a target share. */
export interface DirectoryContext extends Pick<
  FileContext,
  'keys' | 'buffer' | 'limits' | 'keepsRemoved'
> {
  readonly source: PolledSource;
  readonly root: PolledObject;
  /** The name of the label that names the directory; empty for none. */
  readonly label: string;
  readonly clocks: Clocks;
  /** Whether to show the metrics `process_*` of the processes. */
  readonly hasProcessMetrics: boolean;
  readonly proc: string;
  /** The number of files that may still be kept open. */
  readonly descriptors: { free: number };
}

interface TrackedFile {
  values: MetricValues;
  /** Undefined for a file that is opened at each read. */
  open: VerifiedFile | undefined;
  /** The identity of the file at the first read. */
  identity: string;
  /** Why the file cannot be read; empty if it can. */
  fault: string;
  /** When the file was found. */
  readonly sinceMs: number;
  readonly worker: Worker;
  /** The file as in memory maps; undefined before the first read. */
  mapped: MappedFile | undefined;
  /** Whether the file has been read since its process ended. It is not read again. */
  isFinal: boolean;
}

const ownGauge = (name: string, help: string, unit = ''): Declaration =>
  gauge(name, 'i64', unit, { name: `multiprocess_${name}`, help, labels: {} });

/** The metrics about the directory itself. */
const OWN = {
  files: ownGauge('files', 'Metric files in the directory.'),
  bytes: ownGauge('bytes', 'Used bytes of the metric files in the directory.', 'bytes'),
  deadFiles: ownGauge(
    'dead_files',
    'Metric files of processes that have ended, if the exporter can see the processes.',
  ),
  leftOutFiles: ownGauge(
    'left_out_files',
    'Metric files that cannot be read. The status page states the first reason.',
  ),
  leftOutEntries: ownGauge(
    'left_out_entries',
    'Entries of metric files that are no valid series, and metrics that clash with another one of the directory.',
  ),
};

/** Makes a name unique below the root: names of labels that differ only in replaced characters are equal. */
function freeName(root: PolledObject, name: string): string {
  const taken = new Set([...root.children].map((each) => each.name));
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
  return free;
}

export class MetricDirectory {
  /** The value of the label that names the directory. */
  readonly label: string;
  readonly #metrics: MergedMetrics;
  readonly #fileContext: FileContext;
  readonly #path: string;
  readonly #directory: OpenDirectory;
  readonly #context: DirectoryContext;
  readonly #trust: FileTrust;
  /** The steps that read the names. Makes new ones when the directory has changed. */
  readonly #names: CachedRead<Generator<number, DirectoryNames>>;
  #lastNames: Generator<number, DirectoryNames> | undefined;
  readonly #writer: SlotWriter = { writeSlots: () => undefined };
  readonly #object: PolledObject;
  readonly #own: Readonly<Record<keyof typeof OWN, Variable>>;
  readonly #files = new Map<string, TrackedFile>();
  /** The names that end in `.db` and that no library gives, with the faults. */
  #foreign = new Map<string, string>();
  readonly #workers: WorkerProcesses;
  readonly #labels: Readonly<Record<string, string>>;
  /** The metrics of the workers' processes, by the identifier of the worker. */
  readonly #processes = new Map<string, ProcessMetrics>();
  /** The device of the directory's files; undefined before the first one is opened. */
  #device: MappedFile['device'];
  #rounds = 0;
  #hasManyDead = false;
  #counts = { shown: 0, leftOut: 0 };
  #listed: DirectoryNames | undefined;
  /** Whether names were added or removed since the last round. */
  #isNewList = false;

  constructor(
    { place, label }: FoundDirectory,
    { directory, trust }: TrustedDirectory,
    context: DirectoryContext,
    startedUnixMs: number | undefined,
  ) {
    const { source, root, clocks } = context;
    this.#path = pathOf(place);
    this.label = label;
    this.#context = context;
    this.#directory = directory;
    this.#trust = trust;
    this.#names = new CachedRead(this.#path, () => readingNames(this.#directory.path), clocks);
    const writer = this.#writer;
    const labels = (this.#labels = context.label === '' ? {} : { [context.label]: label });
    const name = freeName(root, `${root.name}.${label.replace(/[^\w-]+/g, '_')}`);
    const object = source.addObject(
      writer,
      { name, className: 'Directory', labels, startedUnixMs },
      root,
    );
    this.#object = object;
    this.#own = {
      files: source.addVariable(writer, object, OWN.files),
      bytes: source.addVariable(writer, object, OWN.bytes),
      deadFiles: source.addVariable(writer, object, OWN.deadFiles),
      leftOutFiles: source.addVariable(writer, object, OWN.leftOutFiles),
      leftOutEntries: source.addVariable(writer, object, OWN.leftOutEntries),
    };
    this.#metrics = new MergedMetrics({ source, object }, context.limits, context.label);
    this.#fileContext = { ...context, metrics: this.#metrics };
    this.#workers = new WorkerProcesses(this.#path, clocks.nowMs, context.proc);
    this.#setOwn({ files: 0, bytes: 0, deadFiles: 0, leftOutFiles: 0, leftOutEntries: 0 });
  }

  /** Whether the path leads to the open directory. True if the exporter may not look. */
  get isThere(): boolean {
    try {
      const { dev, ino } = lstatSync(this.#path, { bigint: true });
      return `${dev}:${ino}` === this.#directory.key;
    } catch (error) {
      return !isGone(error) && codeOf(error) !== 'ENOTDIR';
    }
  }

  /** The numbers of files that the last report counted. */
  get counts(): { readonly shown: number; readonly leftOut: number } {
    return this.#counts;
  }

  /**
   * Follows the files and their processes, and shows what has changed. A step returns the work that it did.
   * @param isFull whether to read all files; otherwise only new ones, and those of processes that have ended
   */
  *reading(isFull: boolean): Generator<number, void> {
    yield* this.#following();
    this.#rounds++;
    let order = 0;
    for (const [name, file] of this.#files) {
      order++;
      const isSample = (order + this.#rounds) % SAMPLED_EVERY === 0;
      if (isSample) yield 1;
      if (file.isFinal) {
        if (!isSample) continue;
        yield* this.#sampling(name, file);
        yield READ_STEPS;
      } else if (isFull || this.#isNewList || file.identity === '') {
        yield* this.#readingFile(name, file);
        yield READ_STEPS;
      }
    }
    this.#isNewList = false;
    yield* this.#workers.checking();
    for (const [name, file] of this.#files) {
      const { isDead } = file.worker;
      if (isDead === file.isFinal) continue;
      file.isFinal = isDead;
      yield* this.#readingFile(name, file);
      if (isDead) yield* this.#finishing(file);
      yield READ_STEPS;
    }
    if (this.#context.hasProcessMetrics) yield* this.#followingProcesses(isFull);
    yield* this.#metrics.showing([...this.#files.values()].map(({ values }) => values));
    this.#context.buffer.shrink();
  }

  /**
   * Updates the metrics of the directory. Returns the reasons why files and entries are left out, one sentence each. A
   * step returns the work that it did.
   */
  *reporting(): Generator<number, readonly string[]> {
    const fileReasons: string[] = [];
    const entryReasons: string[] = [];
    const own = { files: this.#files.size, bytes: 0, deadFiles: 0, leftOutEntries: 0 };
    let order = 0;
    for (const [name, { fault, values, isFinal }] of this.#files) {
      own.bytes += values.bytes;
      own.deadFiles += Number(isFinal);
      own.leftOutEntries += values.leftOut;
      if (fault !== '') fileReasons.push(`${this.#path}/${name} ${fault}`);
      if (values.leftOut > 0) entryReasons.push(`${this.#path}/${name}: ${values.refusal}`);
      if (++order % REPORTED_A_STEP === 0) yield 1;
    }
    for (const [name, fault] of this.#foreign) fileReasons.push(`${this.#path}/${name} ${fault}`);
    this.#counts = {
      shown: own.files + this.#foreign.size - fileReasons.length,
      leftOut: fileReasons.length,
    };
    const leftOutFiles = fileReasons.length;
    if (this.#listed?.isTruncated === true) fileReasons.push(truncationWarning(this.#path));
    for (const reason of this.#metrics.refusals()) {
      entryReasons.push(`${this.#path}: ${reason}`);
      own.leftOutEntries++;
    }
    this.#setOwn({ ...own, leftOutFiles });
    this.#hasManyDead = own.deadFiles > MAX_DEAD_FILES;
    return [...fileReasons, ...entryReasons];
  }

  /** A warning if the directory grows, as of the last report; empty if it does not. */
  get warning(): string {
    return this.#hasManyDead
      ? `${this.#path} has more than ${MAX_DEAD_FILES} files of processes that have ended: remove them${this.#context.keepsRemoved ? ', their counts stay in the sums' : ''}`
      : '';
  }

  /** Removes the directory from the tree, in steps. */
  *closing(): Generator<number, void> {
    this.close();
    yield* this.#metrics.closing();
    for (const processes of this.#processes.values()) processes.remove();
    for (const { values } of this.#files.values()) {
      yield* values.removing(false);
      yield READ_STEPS;
    }
    this.#context.source.remove(this.#writer, this.#object);
  }

  /** Closes all files. */
  close(): void {
    for (const file of this.#files.values()) this.#closeFile(file);
    this.#directory.close();
  }

  #setOwn(values: Readonly<Record<keyof typeof OWN, number>>): void {
    const { slots } = this.#context.source;
    const own = this.#own;
    slots.setFirst(own.files.slot, BigInt(values.files));
    slots.setFirst(own.bytes.slot, BigInt(values.bytes));
    slots.setFirst(own.deadFiles.slot, BigInt(values.deadFiles));
    slots.setFirst(own.leftOutFiles.slot, BigInt(values.leftOutFiles));
    slots.setFirst(own.leftOutEntries.slot, BigInt(values.leftOutEntries));
  }

  /** Shows what the live processes use. A step returns the work that it did. */
  *#followingProcesses(isFull: boolean): Generator<number, void> {
    const { source, proc } = this.#context;
    const live = new Map([...this.#workers.live()].map(({ id, process }) => [id, process]));
    for (const [id, metrics] of this.#processes) {
      if (live.get(id) === metrics.owner) continue;
      metrics.remove();
      this.#processes.delete(id);
    }
    for (const [id, process] of live) {
      let metrics = this.#processes.get(id);
      if (metrics !== undefined && !isFull) continue;
      if (metrics === undefined) {
        if (!source.hasRoom(PROCESS_ITEMS)) return;
        const labels = { ...this.#labels, pid: rubyIdOf(id) };
        metrics = new ProcessMetrics(source, this.#object, labels, process, proc);
        this.#processes.set(id, metrics);
      }
      metrics.update();
      yield PROCESS_STEPS;
    }
  }

  /** Follows the names in the directory. The counts of a removed file stay, as its last read has left them. */
  *#following(): Generator<number, void> {
    const last = this.#listed;
    try {
      this.#listed = (yield* this.#listing()) ?? last;
    } catch {
      // The names of the last list stay.
    }
    if (this.#listed === undefined || this.#listed === last) return;
    this.#isNewList = true;
    const names = new Set(this.#listed.names);
    for (const [name, file] of this.#files) {
      // A list may be truncated, and then lacks files that exist.
      if (names.has(name) || this.#exists(name)) continue;
      yield* this.#removing(name, file);
      yield READ_STEPS;
    }
    this.#foreign = new Map();
    const added: string[] = [];
    let order = 0;
    for (const name of names) {
      if (!this.#files.has(name)) added.push(name);
      if (++order % COMPARED_A_STEP === 0) yield 1;
    }
    // The order decides which of two clashing metrics is shown.
    for (const name of added.sort()) {
      yield 1;
      const parsed = parseFileName(name);
      if (typeof parsed === 'string') this.#foreign.set(name, parsed);
      else if (parsed !== undefined)
        this.#files.set(name, {
          values: new MetricValues(parsed, this.#fileContext),
          ...{ open: undefined, identity: '', fault: '', mapped: undefined, isFinal: false },
          sinceMs: this.#context.clocks.nowMs(),
          worker: this.#workers.of(parsed.id),
        });
    }
  }

  /** Lists the names if the directory has changed. */
  *#listing(): Generator<number, DirectoryNames | undefined> {
    const steps = this.#names.now();
    if (steps === undefined || steps === this.#lastNames) return undefined;
    this.#lastNames = steps;
    return yield* steps;
  }

  #exists(name: string): boolean {
    try {
      lstatSync(`${this.#directory.path}/${name}`);
      return true;
    } catch (error) {
      return !isGone(error);
    }
  }

  *#removing(name: string, file: TrackedFile): Generator<number, void> {
    // The process may have written after the last read.
    if (file.open !== undefined) yield* this.#attempting(file, file.open);
    this.#closeFile(file);
    yield* file.values.removing();
    this.#files.delete(name);
    if (file.mapped !== undefined) this.#workers.remove(file.worker, file.mapped);
  }

  /** Reads a file whose process seems to have ended. It may run in a PID namespace that the exporter does not see. */
  *#sampling(name: string, file: TrackedFile): Generator<number, void> {
    if (isLive(file.values.name.kind) || !(yield* this.#readingFile(name, file))) return;
    file.worker.isElsewhere = true;
    file.worker.isDead = false;
  }

  /** Closes a file whose process has ended, and removes its live gauges. */
  *#finishing(file: TrackedFile): Generator<number, void> {
    this.#closeFile(file);
    if (isLive(file.values.name.kind)) yield* this.#renewing(file, false);
  }

  /** Reads a file. Returns whether anything in it changed. */
  *#readingFile(name: string, file: TrackedFile): Generator<number, boolean> {
    if (this.#isNewList && file.open?.isUnlinked === true) yield* this.#beginningAnew(file);
    if (file.open !== undefined) return yield* this.#attempting(file, file.open);
    let open: VerifiedFile | undefined;
    try {
      open = new VerifiedFile(`${this.#directory.path}/${name}`, this.#trust, MAX_FILE_BYTES);
      const { key } = open.identity;
      if (file.identity !== '' && file.identity !== key) yield* this.#beginningAnew(file);
      if (file.identity === '') this.#identify(file, open);
      const hasChanged = yield* this.#attempting(file, open);
      if (this.#context.descriptors.free >= 1) {
        this.#context.descriptors.free--;
        file.open = open;
      }
      return hasChanged;
    } catch (error) {
      // The next list of names lacks the file. Until then, its last values stay.
      if (!isGone(error)) file.fault = unreadableReason(error);
      return false;
    } finally {
      if (file.open !== open) open?.close();
    }
  }

  #identify(file: TrackedFile, open: VerifiedFile): void {
    const { key, inode } = open.identity;
    this.#device ??= open.device;
    file.identity = key;
    file.mapped = { device: this.#device, inode };
    file.worker.files.add(file.mapped);
  }

  /** Begins to read another file that has the name now. The counts of the last one stay. */
  *#beginningAnew(file: TrackedFile): Generator<number, void> {
    if (file.open !== undefined) yield* this.#attempting(file, file.open);
    this.#closeFile(file);
    if (file.mapped !== undefined) file.worker.files.delete(file.mapped);
    file.mapped = undefined;
    file.identity = '';
    yield* this.#renewing(file);
  }

  /** Removes the values of a file, so that the next read begins anew. @param isKept whether its counts stay in the sums */
  *#renewing(file: TrackedFile, isKept?: boolean): Generator<number, void> {
    yield* file.values.removing(isKept);
    file.values = new MetricValues(file.values.name, this.#fileContext);
  }

  /** Reads a file. If its content is invalid, its last values stay. Returns whether anything in it changed. */
  *#attempting(file: TrackedFile, open: VerifiedFile): Generator<number, boolean> {
    try {
      const hasChanged = yield* file.values.reading(open);
      const isOld = this.#context.clocks.nowMs() - file.sinceMs > EMPTY_MS;
      file.fault = file.values.hasHeader || !isOld ? '' : 'is empty';
      return hasChanged;
    } catch (error) {
      file.fault = unreadableReason(error);
      return false;
    }
  }

  #closeFile(file: TrackedFile): void {
    if (file.open === undefined) return;
    file.open.close();
    file.open = undefined;
    this.#context.descriptors.free++;
  }
}

/** The budget steps for reading a file, and for reading what a process uses. */
const READ_STEPS = 4;
/** Comparing this many names with the last list takes a step. */
const COMPARED_A_STEP = 64;
/** Counting this many files for a report takes a step. */
const REPORTED_A_STEP = 16;
const PROCESS_STEPS = 16;
/** Each round reads one of this many files of processes that have ended. */
const SAMPLED_EVERY = 64;
/** The number of files of processes that have ended from which on the exporter warns. */
const MAX_DEAD_FILES = 1000;
