// Watches all JVMs of a host: one tree under whatever server key, as long as the exporter runs.
import { hostname } from 'node:os';
import { Budget, SLICE_MS } from '../budget.js';
import { counted } from '../counted.js';
import type { Declaration, Variable } from '../model.js';
import { NO_DROPS } from '../streams/watch.js';
import type { PollResult, Watch, Watches } from '../streams/watch.js';
import { ContainerFileFinder, HostFileFinder } from './jvm-discovery.js';
import { CLOCKS, DirectoryWatch } from '../foreign/directory-listing.js';
import { JvmTracker } from './jvm-tracker.js';
import { PolledSource } from '../foreign/polled-source.js';
import type { Clocks } from '../foreign/directory-listing.js';
import { trusting } from '../foreign/verified-file.js';
import type { HsperfdataSettings } from './settings.js';
import { fitsAny } from '../rules/formats.js';

export interface HsperfdataWatchOptions {
  /** Users whose files are believed, beside root and that of this process; with none, all are. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The most objects and variables of all JVMs together. */
  readonly segmentMaxItems?: number | undefined;
  readonly clocks?: Clocks;
  readonly proc?: string | undefined;
}

const MAX_ITEMS = 1 << 21;
/** What one look may take: some files, or a part of the processes of the host. */
const STEPS = 4096;
const LEAST_STEPS = 256;
/** The instance of the root: a host has one set of JVMs. */
const INSTANCE = '1';
const APPLICATION = 'jvm';

export const hsperfdataWatches =
  (settings: HsperfdataSettings, options: HsperfdataWatchOptions = {}): Watches =>
  (serverKey) =>
    new HsperfdataWatch(serverKey, settings, options);

/** What a root says of its JVMs. */
const gauge = (name: string): Declaration => ({
  ...{ name, type: 'i64', kind: 'gauge', unit: '', help: '' },
  schema: [],
});

export class HsperfdataWatch implements Watch {
  readonly #serverKey: string;
  readonly #source: PolledSource;
  readonly #hostFiles: HostFileFinder;
  readonly #containers: ContainerFileFinder | undefined;
  readonly #jvms: JvmTracker;
  readonly #shown: Variable;
  readonly #leftOut: Variable;
  readonly #directories = new DirectoryWatch(() => {
    this.#noted();
  });
  readonly #waiting = new Set<() => void>();
  #tick = 0;

  constructor(serverKey: string, settings: HsperfdataSettings, options: HsperfdataWatchOptions) {
    const { trustedOwners, segmentMaxItems = MAX_ITEMS, clocks = CLOCKS, proc } = options;
    const { directories, containers, users, mainClasses } = settings;
    const source = (this.#source = new PolledSource(segmentMaxItems));
    this.#serverKey = serverKey;
    this.#hostFiles = new HostFileFinder(directories, users, clocks);
    this.#containers = containers ? new ContainerFileFinder(users, clocks.nowMs, proc) : undefined;
    const owner = { refresh: () => undefined };
    const name = [hostname(), INSTANCE, APPLICATION].join('.');
    const root = source.addObject(owner, { name, className: 'Host' });
    this.#shown = source.addVariable(owner, root, gauge('shown'));
    this.#leftOut = source.addVariable(owner, root, gauge('leftOut'));
    this.#jvms = new JvmTracker({
      ...{ source, root, nowMs: clocks.nowMs, hasContainers: containers, proc },
      isWanted: (mainClass) => fitsAny(mainClass, mainClasses),
      isTrusted: trusting(trustedOwners),
    });
  }

  poll(): PollResult {
    const found = this.#hostFiles.find();
    // Of what is done with the names: to list very many takes longer.
    const budget = new Budget({ steps: STEPS, ms: SLICE_MS, leastSteps: LEAST_STEPS });
    const inContainers = this.#containers?.find(budget) ?? [];
    // Files of containers first: if a file is found both ways, only that entry has its PID on the host.
    const isOpening = this.#jvms.follow([...inContainers, ...found.files], budget);
    this.#directories.follow(this.#hostFiles.paths);
    const cuts = [...found.cuts, ...(this.#containers?.cuts ?? [])];
    const refusals = [...found.refusals, ...cuts, ...this.#jvms.refusals];
    this.#set(this.#shown, this.#jvms.count);
    this.#set(this.#leftOut, refusals.length);
    const { changes, hasMore } = this.#source.sync();
    return {
      serverKey: this.#serverKey,
      publisher: { state: 'live', reason: reasonOf(this.#jvms.count, refusals) },
      warnings: [...this.#jvms.warnings, ...cuts],
      source: this.#source,
      changes,
      hasMore: hasMore || isOpening,
      tick: this.#tick,
      drops: NO_DROPS,
    };
  }

  wait(tick: number, moved: () => void): () => void {
    if (tick !== this.#tick) {
      moved();
      return () => undefined;
    }
    this.#waiting.add(moved);
    return () => this.#waiting.delete(moved);
  }

  close(): void {
    this.#directories.close();
    this.#jvms.close();
  }

  #noted(): void {
    this.#tick++;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const moved of waiting) moved();
  }

  #set({ slot }: Variable, value: number): void {
    this.#source.slots.set(slot, BigInt(value));
    this.#source.slots.setSynced(slot, true);
  }
}

function reasonOf(count: number, refusals: readonly string[]): string {
  const shown = `${counted(count, 'JVM is', 'JVMs are')} shown`;
  const [first] = refusals;
  if (first === undefined) return shown;
  return `${shown}, ${refusals.length} left out: ${first}`;
}
