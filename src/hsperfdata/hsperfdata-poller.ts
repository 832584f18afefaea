// Polls all JVMs of a host. Every server key shows the same tree. The tree exists as long as the exporter runs.
import { hostname } from 'node:os';
import { Budget, SLICE_MS } from '../budget.js';
import type { Variable } from '../model.js';
import { NO_DROPS, immediateFinder } from '../streams/poller.js';
import type { PollResult, Poller, PollerFactory } from '../streams/poller.js';
import { ContainerFileFinder, HostFileFinder } from './jvm-discovery.js';
import { CLOCKS, DirectoryWatch } from '../foreign/directory-listing.js';
import { JvmTracker } from './jvm-tracker.js';
import { PolledSource, gauge, liveVerdict } from '../foreign/polled-source.js';
import type { Clocks } from '../foreign/directory-listing.js';
import { trusting } from '../foreign/verified-file.js';
import { HSPERFDATA_APP } from './settings.js';
import type { HsperfdataSettings } from './settings.js';
import { fitsAny } from '../rules/formats.js';

export interface HsperfdataPollerOptions {
  /** The UIDs of trusted users, in addition to root and the user of this process. An empty list trusts all users. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The maximum number of objects and variables of all JVMs together. */
  readonly segmentMaxItems?: number | undefined;
  readonly clocks?: Clocks;
  readonly proc?: string | undefined;
}

const MAX_ITEMS = 1 << 21;
/** The work budget of one poll: enough for a few files, or for a part of the host's processes. */
const STEPS = 4096;
const LEAST_STEPS = 256;
const INSTANCE = '1';

/** Finds one target, which has all JVMs. */
export const hsperfdataFinder = immediateFinder(() => [
  { app: HSPERFDATA_APP, serverKey: HSPERFDATA_APP, instance: '', file: '' },
]);

export const hsperfdataPollers =
  (settings: HsperfdataSettings, options: HsperfdataPollerOptions = {}): PollerFactory =>
  (serverKey) =>
    new HsperfdataPoller(serverKey, settings, options);

export class HsperfdataPoller implements Poller {
  readonly #serverKey: string;
  readonly #source: PolledSource;
  readonly #hostFiles: HostFileFinder;
  readonly #containers: ContainerFileFinder | undefined;
  readonly #jvms: JvmTracker;
  readonly #shown: Variable;
  readonly #leftOut: Variable;
  readonly #directories = new DirectoryWatch(() => {
    this.#notify();
  });
  readonly #waiting = new Set<() => void>();
  #notifications = 0;

  constructor(serverKey: string, settings: HsperfdataSettings, options: HsperfdataPollerOptions) {
    const { trustedOwners, segmentMaxItems = MAX_ITEMS, clocks = CLOCKS, proc } = options;
    const { directories, containers, users, mainClasses } = settings;
    const source = (this.#source = new PolledSource(segmentMaxItems));
    this.#serverKey = serverKey;
    this.#hostFiles = new HostFileFinder(directories, users, clocks);
    this.#containers = containers ? new ContainerFileFinder(users, clocks.nowMs, proc) : undefined;
    const writer = { writeSlots: () => undefined };
    const name = [hostname(), INSTANCE, HSPERFDATA_APP].join('.');
    const root = source.addObject(writer, { name, className: 'Host' });
    this.#shown = source.addVariable(writer, root, gauge('shown', 'i64'));
    this.#leftOut = source.addVariable(writer, root, gauge('leftOut', 'i64'));
    this.#jvms = new JvmTracker({
      ...{ source, root, nowMs: clocks.nowMs, hasContainers: containers, proc },
      isWanted: (mainClass) => fitsAny(mainClass, mainClasses),
      isTrusted: trusting(trustedOwners),
    });
  }

  poll(): PollResult {
    const found = this.#hostFiles.find();
    // The budget does not include `find()`, which lists directories and may take longer.
    const budget = new Budget({ steps: STEPS, ms: SLICE_MS, leastSteps: LEAST_STEPS });
    const inContainers = this.#containers?.find(budget) ?? [];
    const isSearching = this.#containers?.hasWalked === false;
    // Files of containers first. If a file was found both in a container and on the host, only the entry from the
    // container has the PID on the host.
    const isOpening = this.#jvms.track([...inContainers, ...found.files], budget);
    this.#directories.follow(this.#hostFiles.paths);
    const truncations = [...found.truncations, ...(this.#containers?.truncations ?? [])];
    const refusals = [...found.refusals, ...truncations, ...this.#jvms.refusals];
    this.#set(this.#shown, this.#jvms.count);
    this.#set(this.#leftOut, refusals.length);
    const { changes, hasMore } = this.#source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher: liveVerdict(this.#jvms.count, ['JVM', 'JVMs'], refusals),
      warnings: [...this.#jvms.warnings, ...truncations],
      source: this.#source,
      changes,
      hasMore: hasMore || isOpening || isSearching,
      notifications: this.#notifications,
      drops: NO_DROPS,
    };
  }

  wait(notifications: number, onChange: () => void): () => void {
    if (notifications !== this.#notifications) {
      onChange();
      return () => undefined;
    }
    this.#waiting.add(onChange);
    return () => this.#waiting.delete(onChange);
  }

  close(): void {
    this.#directories.close();
    this.#jvms.close();
  }

  #notify(): void {
    this.#notifications++;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const onChange of waiting) onChange();
  }

  #set({ slot }: Variable, value: number): void {
    this.#source.slots.setFirst(slot, BigInt(value));
  }
}
