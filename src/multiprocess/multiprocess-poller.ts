// Polls the directories of metric files that a target names, and shows their metrics as one tree.
import { hostname } from 'node:os';
import { Budget, SLICE_MS } from '../budget.js';
import { CLOCKS } from '../foreign/directory-listing.js';
import type { Clocks } from '../foreign/directory-listing.js';
import { PolledSource, Slots, liveVerdict } from '../foreign/polled-source.js';
import type { PolledObject, SlotWriter } from '../foreign/polled-source.js';
import { maxDescriptors } from '../foreign/processes.js';
import { firstLinkBelowBase, isGone, unreadableReason } from '../foreign/verified-file.js';
import { NO_DROPS, resultWithoutSource } from '../streams/poller.js';
import type { PollResult, Poller, PollerFactory } from '../streams/poller.js';
import { codeOf, messageOf } from '../errors.js';
import type { Verdict } from '../model.js';
import { DirectoryFinder } from './directory-finder.js';
import type { FoundDirectory } from './directory-finder.js';
import { EnvironmentFinder } from './environment-finder.js';
import { ReadBuffer } from './file-values.js';
import { KeyTable } from './key-table.js';
import { MetricDirectory } from './metric-directory.js';
import type { DirectoryContext } from './metric-directory.js';
import type { MultiprocessSettings } from './settings.js';
import { openTrusted } from './trusted-directory.js';

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
  readonly proc?: string | undefined;
}

const MAX_SERIES = 1 << 21;
/** The maximum number of entries of all files together. */
const MAX_ENTRIES = 1 << 23;
/**
 * The maximum number of files that are kept open: at most this share of the descriptors that the process may have. Other
 * files are opened at each read, which takes three times as long.
 */
const MAX_OPEN = 8192;
const OPEN_SHARE = 0.5;
/** The maximum number of reasons that a target logs. */
const MAX_WARNINGS = 16;
/** Each series has a slab of its own, since it may be removed alone. */
const SLAB = 1;
/** The work budget of one poll: about a hundred files. In a large directory, adding one entry may take 0.3 ms. */
const POLL_BUDGET = { ms: SLICE_MS, leastSteps: 8, stepsPerClockRead: 8 };

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
 * Reads all files once in a round, which may take several polls. A page shows the values of a complete round, unless the
 * round takes longer than a refresh polls.
 */
export class MultiprocessPoller implements Poller {
  readonly #serverKey: string;
  readonly #settings: OwnSettings;
  readonly #options: MultiprocessPollerOptions;
  readonly #clocks: Clocks;
  readonly #finder: DirectoryFinder;
  #tree: Tree | undefined;
  #round: { readonly isFull: boolean; readonly steps: Generator<number, void> } | undefined;
  /** Whether a page waits for a round that reads all files, and that has not begun. */
  #isDemanded = false;
  #refusals: readonly string[] = [];
  /** Why there is no tree. */
  #absence = 'its directories have not been read yet';
  /** The paths of directories that have gone. */
  readonly #gone = new Set<string>();
  /** How many times a directory took the path of another one that has gone. */
  readonly #replaced = new Map<string, number>();

  constructor(serverKey: string, settings: OwnSettings, options: MultiprocessPollerOptions) {
    this.#serverKey = serverKey;
    this.#settings = settings;
    this.#options = options;
    this.#clocks = options.clocks ?? CLOCKS;
    const { directories, discover } = settings;
    const environment =
      discover === 'environment'
        ? new EnvironmentFinder(this.#clocks.nowMs, options.proc)
        : undefined;
    this.#finder = new DirectoryFinder(directories, this.#clocks, environment);
  }

  poll(isDemanded = true): PollResult {
    // A page takes part in a round that reads all files, and otherwise waits for the next one.
    if (isDemanded && this.#round?.isFull !== true) this.#isDemanded = true;
    const budget = new Budget(POLL_BUDGET);
    do this.#continue(budget);
    while (this.#isDemanded && !budget.isSpent);
    const isReading = this.#round !== undefined || this.#isDemanded;
    const tree = this.#tree;
    if (tree === undefined) {
      const publisher: Verdict = { state: 'absent', reason: this.#absence };
      return { ...resultWithoutSource(this.#serverKey, publisher), hasMore: isReading };
    }
    const { source } = tree.context;
    const { changes, hasMore } = source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher: this.#verdict(tree),
      warnings: [
        ...this.#replacements(tree),
        ...[...tree.directories.values()].map(({ warning }) => warning).filter(Boolean),
        ...this.#refusals.slice(0, MAX_WARNINGS),
      ],
      source,
      changes,
      hasMore: hasMore || isReading,
      notifications: 0,
      drops: NO_DROPS,
    };
  }

  /** Returns a no-op: the libraries send no notifications, so values are read on demand. */
  wait(): () => void {
    return () => undefined;
  }

  close(): void {
    // Closes the file that is being read.
    this.#round?.steps.return();
    for (const directory of this.#tree?.directories.values() ?? []) directory.close();
    this.#tree = undefined;
    this.#round = undefined;
  }

  /** Begins or continues a round within the budget. */
  #continue(budget: Budget): void {
    this.#round ??= { isFull: this.#isDemanded, steps: this.#reading(this.#isDemanded) };
    if (this.#round.isFull) this.#isDemanded = false;
    while (!budget.isSpent) {
      const { done, value } = this.#next(this.#round.steps);
      if (done === true) {
        this.#round = undefined;
        return;
      }
      budget.spend(value);
    }
  }

  /** The next step of a round. An error ends the round; the values that it has read are shown. */
  #next(steps: Generator<number, void>): IteratorResult<number, void> {
    try {
      return steps.next();
    } catch (error) {
      this.#absence = messageOf(error);
      this.#refusals = [this.#absence];
      return { done: true, value: undefined };
    }
  }

  /**
   * A round: follows the directories, and reads their files. A step returns the work that it did.
   * @param isFull whether to read all files, for a page
   */
  *#reading(isFull: boolean): Generator<number, void> {
    const found = yield* this.#finder.finding();
    const refusals: string[] = [];
    for (const [path, directory] of this.#tree?.directories ?? []) {
      if (found.has(path) && directory.isThere) continue;
      this.#tree?.directories.delete(path);
      this.#gone.add(path);
      forgetOldest(this.#gone);
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
      this.#absence = refusals[0] ?? `there is no directory ${this.#names.join(' or ')}`;
      return;
    }
    for (const directory of tree.directories.values()) yield* directory.reading(isFull);
    for (const directory of tree.directories.values()) {
      for (const refusal of yield* directory.reporting()) refusals.push(refusal);
      yield OPEN_STEPS;
    }
    this.#refusals = [...this.#finder.refusals, ...refusals];
  }

  /** Opens a directory. Returns the reason if it exists and cannot be opened. */
  #open(path: string, found: FoundDirectory): string | undefined {
    try {
      const opened = openTrusted(found.place, this.#options.trustedOwners ?? []);
      const tree = (this.#tree ??= this.#newTree());
      for (const [other, { label }] of tree.directories)
        if (label === found.label) {
          opened.directory.close();
          return `has the label ${this.#settings.label}="${label}" of ${other}`;
        }
      const isAnew = this.#gone.delete(path);
      if (isAnew) {
        this.#replaced.set(path, (this.#replaced.get(path) ?? 0) + 1);
        forgetOldest(this.#replaced);
      }
      // The counts of a directory that replaces another one begin now.
      const startedUnixMs = isAnew ? this.#clocks.unixMs() : undefined;
      const directory = new MetricDirectory(found, opened, tree.context, startedUnixMs);
      tree.directories.set(path, directory);
      return undefined;
    } catch (error) {
      if (isGone(error)) return undefined;
      if (codeOf(error) !== 'ENOTDIR') return unreadableReason(error);
      const link = firstLinkBelowBase(found.place);
      if (link !== undefined) return link === path ? 'is a link' : `is below the link ${link}`;
      // A pattern also matches files, which are no fault.
      return found.label === path ? unreadableReason(error) : undefined;
    }
  }

  /** The directories that the settings name. */
  get #names(): readonly string[] {
    const { directories, discover } = this.#settings;
    return discover === 'none' ? directories : [...directories, 'in an environment'];
  }

  #newTree(): Tree {
    const { label, keepRemoved, processMetrics, app } = this.#settings;
    const { segmentMaxItems = MAX_SERIES, proc = '/proc' } = this.#options;
    const source = new PolledSource(segmentMaxItems, new Slots(SLAB));
    const writer: SlotWriter = { writeSlots: () => undefined };
    const name = [hostname(), this.#serverKey.replaceAll('.', '_'), app].join('.');
    const root: PolledObject = source.addObject(writer, { name, className: 'Multiprocess' });
    const context: DirectoryContext = {
      ...{ source, root, label, clocks: this.#clocks, keepsRemoved: keepRemoved },
      ...{ hasProcessMetrics: processMetrics, proc },
      keys: new KeyTable(),
      buffer: new ReadBuffer(),
      limits: { series: segmentMaxItems, entries: MAX_ENTRIES },
      descriptors: { free: Math.min(MAX_OPEN, maxDescriptors() * OPEN_SHARE) },
    };
    return { context, directories: new Map() };
  }

  #verdict(tree: Tree): Verdict {
    const files = { shown: 0, leftOut: 0 };
    for (const { counts } of tree.directories.values()) {
      files.shown += counts.shown;
      files.leftOut += counts.leftOut;
    }
    const nouns = ['metric file', 'metric files'] as const;
    const verdict = liveVerdict(files.shown, nouns, this.#refusals, files.leftOut);
    const replaced = this.#replacements(tree);
    if (replaced.length === 0) return verdict;
    return { ...verdict, reason: [verdict.reason, ...replaced].join('; '), isPartial: true };
  }

  /** Sentences about open directories that replaced others. */
  #replacements({ directories }: Tree): readonly string[] {
    return [...this.#replaced]
      .filter(([path]) => directories.has(path))
      .slice(0, MAX_REPLACEMENTS)
      .map(([path, count]) => `${path} was replaced (${count} so far), so its sums begin again`);
  }
}

/** The maximum number of replaced directories that a reason names. */
const MAX_REPLACEMENTS = 4;
/** The maximum number of paths that are remembered. */
const MAX_PATHS = 1024;

function forgetOldest(paths: Pick<Set<string>, 'size' | 'delete' | 'keys'>): void {
  if (paths.size <= MAX_PATHS) return;
  for (const path of paths.keys()) {
    paths.delete(path);
    return;
  }
}

/** The budget steps for opening a directory. */
const OPEN_STEPS = 16;
