// Polls the directories of metric files that a target names, and shows their metrics as one tree.
import { hostname } from 'node:os';
import { Budget, SLICE_MS } from '../budget.js';
import { CLOCKS } from '../foreign/directory-listing.js';
import type { Clocks } from '../foreign/directory-listing.js';
import { PolledSource, Slots, shownReason } from '../foreign/polled-source.js';
import type { PolledObject, SlotWriter } from '../foreign/polled-source.js';
import { isGone, unreadableReason } from '../foreign/verified-file.js';
import { NO_DROPS, resultWithoutSource } from '../streams/poller.js';
import type { PollResult, Poller, PollerFactory } from '../streams/poller.js';
import { codeOf } from '../errors.js';
import { DirectoryFinder } from './directory-finder.js';
import type { FoundDirectory } from './directory-finder.js';
import { ReadBuffer } from './file-values.js';
import { KeyTable } from './key-table.js';
import { MetricDirectory } from './metric-directory.js';
import type { DirectoryContext } from './metric-directory.js';
import type { MultiprocessSettings } from './settings.js';

/** The settings of a target, and its application. */
export interface OwnSettings extends MultiprocessSettings {
  readonly app: string;
}

export interface MultiprocessPollerOptions {
  /** The UIDs of trusted users, in addition to root and the user of this process. An empty list trusts all users. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The maximum number of series of all directories together. */
  readonly segmentMaxItems?: number | undefined;
  readonly clocks?: Clocks;
}

const MAX_SERIES = 1 << 21;
/** The maximum number of entries of all files together. */
const MAX_ENTRIES = 1 << 23;
/** The maximum number of files that are kept open. Other files are opened at each read. */
const MAX_OPEN = 1024;
/** The maximum number of reasons that a target logs. */
const MAX_WARNINGS = 16;
/** Each series has a slab of its own, since it may be removed alone. */
const SLAB = 1;
/** The work budget of one poll: about a hundred files. */
const POLL_BUDGET = { ms: SLICE_MS, leastSteps: 64, stepsPerClockRead: 16 };

export const multiprocessPollers =
  (settings: OwnSettings, options: MultiprocessPollerOptions = {}): PollerFactory =>
  (serverKey) =>
    new MultiprocessPoller(serverKey, settings, options);

/** The tree of a target. */
interface Tree {
  readonly context: DirectoryContext;
  /** The directories by path. */
  readonly directories: Map<string, MetricDirectory>;
}

/**
 * Reads all files once in a round, which may take several polls. A page shows the values of a complete round, since a
 * refresh polls until there is no more.
 */
export class MultiprocessPoller implements Poller {
  readonly #serverKey: string;
  readonly #settings: OwnSettings;
  readonly #options: MultiprocessPollerOptions;
  readonly #clocks: Clocks;
  readonly #finder: DirectoryFinder;
  #tree: Tree | undefined;
  #round: Generator<number, void> | undefined;
  #refusals: readonly string[] = [];
  #absence = '';
  readonly #replaced = new Map<string, number>();

  constructor(serverKey: string, settings: OwnSettings, options: MultiprocessPollerOptions) {
    this.#serverKey = serverKey;
    this.#settings = settings;
    this.#options = options;
    this.#clocks = options.clocks ?? CLOCKS;
    this.#finder = new DirectoryFinder(settings.directories, this.#clocks);
  }

  poll(): PollResult {
    const budget = new Budget(POLL_BUDGET);
    const round = (this.#round ??= this.#reading());
    while (!budget.isSpent) {
      const { done, value } = round.next();
      if (done === true) {
        this.#round = undefined;
        break;
      }
      budget.spend(value);
    }
    const tree = this.#tree;
    if (tree === undefined)
      return resultWithoutSource(this.#serverKey, { state: 'absent', reason: this.#absence });
    const { source } = tree.context;
    const { changes, hasMore } = source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher: { state: 'live', reason: this.#reason(tree) },
      warnings: [...this.#replacements(), ...this.#refusals.slice(0, MAX_WARNINGS)],
      source,
      changes,
      hasMore: hasMore || this.#round !== undefined,
      notifications: 0,
      drops: NO_DROPS,
    };
  }

  /** Returns a no-op: the libraries send no notifications, so values are read on demand. */
  wait(): () => void {
    return () => undefined;
  }

  close(): void {
    for (const directory of this.#tree?.directories.values() ?? []) directory.close();
    this.#tree = undefined;
    this.#round = undefined;
  }

  /** A round: follows the directories, and reads all their files. A step returns the work that it did. */
  *#reading(): Generator<number, void> {
    const found = this.#finder.find();
    const refusals: string[] = [];
    for (const [path, directory] of this.#tree?.directories ?? []) {
      if (found.has(path) && directory.isThere) continue;
      this.#tree?.directories.delete(path);
      if (found.has(path)) this.#replaced.set(path, (this.#replaced.get(path) ?? 0) + 1);
      yield* directory.closing();
    }
    for (const [path, each] of found) {
      if (this.#tree?.directories.has(path) === true) continue;
      const reason = this.#open(path, each);
      if (reason !== undefined) refusals.push(`${path} ${reason}`);
      yield OPEN_STEPS;
    }
    const tree = this.#tree;
    if (tree === undefined || tree.directories.size === 0) {
      this.#tree = undefined;
      this.#absence =
        refusals[0] ?? `there is no directory ${this.#settings.directories.join(' or ')}`;
      return;
    }
    for (const directory of tree.directories.values()) yield* directory.reading();
    for (const directory of tree.directories.values()) {
      for (const refusal of directory.report()) refusals.push(refusal);
      yield OPEN_STEPS;
    }
    this.#refusals = [...this.#finder.refusals, ...refusals];
  }

  /** Opens a directory. Returns the reason if it exists and cannot be opened. */
  #open(path: string, found: FoundDirectory): string | undefined {
    try {
      const tree = (this.#tree ??= this.#newTree());
      // The counts of a directory that was replaced begin now.
      const startedUnixMs = this.#replaced.has(path) ? this.#clocks.unixMs() : undefined;
      const directory = new MetricDirectory(found, tree.context, startedUnixMs);
      tree.directories.set(path, directory);
      return undefined;
    } catch (error) {
      const isMissing = isGone(error) || (found.label !== path && codeOf(error) === 'ENOTDIR');
      return isMissing ? undefined : unreadableReason(error);
    }
  }

  #newTree(): Tree {
    const { label, keepRemoved, app } = this.#settings;
    const { segmentMaxItems = MAX_SERIES, trustedOwners = [] } = this.#options;
    const source = new PolledSource(segmentMaxItems, new Slots(SLAB));
    const writer: SlotWriter = { writeSlots: () => undefined };
    const name = [hostname(), this.#serverKey.replaceAll('.', '_'), app].join('.');
    const root: PolledObject = source.addObject(writer, { name, className: 'Multiprocess' });
    const context: DirectoryContext = {
      ...{ source, root, label, trustedOwners, clocks: this.#clocks, keepsRemoved: keepRemoved },
      keys: new KeyTable(),
      buffer: new ReadBuffer(),
      limits: { series: segmentMaxItems, entries: MAX_ENTRIES },
      descriptors: { free: MAX_OPEN },
    };
    return { context, directories: new Map() };
  }

  #reason({ directories }: Tree): string {
    let files = 0;
    for (const { size } of directories.values()) files += size;
    const shown = shownReason(files, ['metric file', 'metric files'], this.#refusals);
    return [shown, ...this.#replacements()].join('; ');
  }

  /** Sentences about directories that were replaced. */
  #replacements(): readonly string[] {
    return [...this.#replaced].map(
      ([path, count]) => `${path} was replaced (${count} so far), so its sums begin again`,
    );
  }
}

/** The budget steps for opening a directory. */
const OPEN_STEPS = 16;
