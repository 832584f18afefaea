// Polls one instance of Varnish, across restarts, and judges whether it runs.
import { existsSync, lstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { Budget, SLICE_MS } from '../budget.js';
import { wallClockMs } from '../clock.js';
import { liveVerdict } from '../foreign/polled-source.js';
import { Fault } from '../errors.js';
import { CLOCKS, namesIn } from '../foreign/directory-listing.js';
import type { Clocks } from '../foreign/directory-listing.js';
import {
  withDirectory,
  isForbidden,
  isGone,
  trusting,
  unreadableReason,
} from '../foreign/verified-file.js';
import type { Verdict } from '../model.js';
import { NO_DROPS, immediateFinder, resultWithoutSource } from '../streams/poller.js';
import type {
  AvailableNames,
  Finder,
  LastValues,
  PollResult,
  Poller,
  PollerFactory,
} from '../streams/poller.js';
import { isServerKey } from '../rules/formats.js';
import { VarnishManager, uptimeOf } from './varnish-manager.js';
import { CLEAN_NAMES } from './names/clean-names.js';
import { COMPAT_NAMES } from './names/compat-names.js';
import { SegmentDirectory } from './segment-directory.js';
import type { VarnishSettings } from './settings.js';
import { VarnishInstance } from './varnish-instance.js';
import { NAMELESS, VARNISH_APP, folderOf } from './settings.js';

export interface VarnishPollerOptions {
  /** The UIDs of trusted users, in addition to root and the user of this process. An empty list trusts all users. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The maximum number of objects and variables of an instance. */
  readonly segmentMaxItems?: number | undefined;
  readonly clocks?: Clocks;
  readonly proc?: string;
}

const MAX_ITEMS = 1 << 21;
/** The work budget of one poll: enough for a few hundred segments. */
const STEPS = 32_768;
const LEAST_STEPS = 4096;
/** The maximum number of directories that `availableNames` checks for Varnish instances. */
const MAX_NAMES = 1024;
const MANAGER = '_.vsm_mgt';
const CHILD = '_.vsm_child';

/** The directory of a manager, running or not. */
interface OpenedInstance {
  readonly directory: SegmentDirectory;
  readonly manager: VarnishManager;
  readonly process: NonNullable<PollResult['process']>;
  /** The tree of the instance; undefined while the manager does not run. */
  instance: VarnishInstance | undefined;
}

/** The work directories of instances that run, or that a killed manager left behind. */
function instanceFolders(directory: string): readonly string[] {
  try {
    return namesIn(directory)
      .slice(0, MAX_NAMES)
      .filter((name) => existsSync(`${directory}/${name}/${MANAGER}`));
  } catch {
    return [];
  }
}

/** A text that changes when a manager starts again, since it makes its directory anew; empty if there is none. */
function stampOf(path: string): string {
  try {
    const { ino, ctimeMs } = lstatSync(path);
    return `${ino} ${ctimeMs}`;
  } catch {
    return '';
  }
}

/** Finds the instances with a work directory below `directory`. */
export const varnishFinder = ({ directory }: VarnishSettings): Finder =>
  immediateFinder(() => {
    const nameless = folderOf(NAMELESS, directory);
    return instanceFolders(directory).flatMap((name) => {
      const serverKey = name === nameless ? NAMELESS : name;
      const file = stampOf(`${directory}/${name}/${MANAGER}`);
      return file === '' || !isServerKey(serverKey)
        ? []
        : [{ app: VARNISH_APP, serverKey, instance: '', file }];
    });
  });

export const varnishPollers =
  (settings: VarnishSettings, options: VarnishPollerOptions = {}): PollerFactory =>
  (serverKey) =>
    new VarnishPoller(serverKey, settings, options);

export class VarnishPoller implements Poller {
  readonly #serverKey: string;
  readonly #settings: VarnishSettings;
  readonly #options: VarnishPollerOptions;
  readonly #isTrusted: (uid: number) => boolean;
  readonly #nowMs: () => number;
  #opened: OpenedInstance | undefined;

  constructor(serverKey: string, settings: VarnishSettings, options: VarnishPollerOptions) {
    this.#serverKey = serverKey;
    this.#settings = settings;
    this.#options = options;
    this.#isTrusted = trusting(options.trustedOwners);
    this.#nowMs = (options.clocks ?? CLOCKS).nowMs;
  }

  poll(): PollResult {
    try {
      return this.#poll();
    } catch (error) {
      this.close();
      return this.#nothing(this.#failure(error));
    }
  }

  /** Returns a no-op: Varnish sends no notifications, so values are read on demand. */
  wait(): () => void {
    return () => undefined;
  }

  availableNames(): AvailableNames {
    return { name: this.#folder, names: instanceFolders(this.#settings.directory) };
  }

  openLast(): LastValues | undefined {
    const opened = this.#open();
    if (opened === undefined) return undefined;
    const { directory } = opened;
    try {
      const ageSeconds = ageOf(directory);
      const instance = this.#newInstance(directory);
      return {
        source: instance.source,
        readMore: () => instance.update(newBudget()) || instance.source.readChanges().hasMore,
        ageSeconds,
        close: () => {
          instance.close();
          directory.close();
        },
      };
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  close(): void {
    this.#opened?.instance?.close();
    this.#opened?.directory.close();
    this.#opened = undefined;
  }

  #poll(): PollResult {
    if (this.#opened?.directory.update() === false) this.close();
    const opened = (this.#opened ??= this.#open());
    if (opened === undefined)
      return this.#nothing({
        state: 'building',
        reason: `${this.#path} has no complete index yet`,
      });
    const { manager, directory, process } = opened;
    const publisher = manager.judge(() => uptimeOf(directory));
    if (publisher.state !== 'live') {
      opened.instance?.close();
      opened.instance = undefined;
      return { ...this.#nothing(publisher), process };
    }
    return { ...this.#read(opened), process };
  }

  /** The poll result of a running instance. */
  #read(opened: OpenedInstance): PollResult {
    const instance = (opened.instance ??= this.#newInstance(opened.directory));
    const isOpening = instance.update(newBudget());
    const { count, refusals } = instance;
    const { changes, hasMore } = instance.source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher: liveVerdict(count, ['segment', 'segments'], refusals),
      source: instance.source,
      changes,
      hasMore: hasMore || isOpening,
      notifications: 0,
      drops: NO_DROPS,
    };
  }

  /** Opens the directory of the manager; undefined while its index is incomplete. */
  #open(): OpenedInstance | undefined {
    const { directory: base } = this.#settings;
    const folder = this.#folder;
    // The work directory may be writable by other users, like /tmp. So check its owner, not its mode.
    withDirectory(
      { base, below: [folder] },
      ({ uid }) => {
        if (!this.#isTrusted(uid)) throw new Fault('NATIVE_FAILED', untrusted(uid));
      },
      true,
    );
    const place = { base, below: [folder, MANAGER] };
    const directory = new SegmentDirectory(place, this.#isTrusted);
    const { writer } = directory;
    if (writer === undefined) {
      directory.close();
      return undefined;
    }
    const manager = new VarnishManager(writer, this.#path, this.#nowMs, this.#options.proc);
    const { isElsewhere } = manager;
    const process = { pid: writer.pid, isElsewhere, startedUnixMs: writer.birth * 1000 };
    return { directory, manager, process, instance: undefined };
  }

  #newInstance(manager: SegmentDirectory): VarnishInstance {
    const { directory: base, names } = this.#settings;
    return new VarnishInstance({
      rootId: [hostname(), this.#serverKey.replaceAll('.', '_'), VARNISH_APP].join('.'),
      manager,
      childPath: { base, below: [this.#folder, CHILD] },
      naming: names === 'clean' ? CLEAN_NAMES : COMPAT_NAMES,
      isTrusted: this.#isTrusted,
      maxItems: this.#options.segmentMaxItems ?? MAX_ITEMS,
    });
  }

  get #folder(): string {
    return folderOf(this.#serverKey, this.#settings.directory);
  }

  get #path(): string {
    return `${this.#settings.directory}/${this.#folder}`;
  }

  #failure(error: unknown): Verdict {
    const path = this.#path;
    if (isGone(error)) return { state: 'absent', reason: whyAbsent(path, this.#serverKey) };
    if (isForbidden(error)) {
      const reason = `${path} cannot be read: add the user of the exporter to the group of ${path}/${MANAGER}, usually varnish`;
      return { state: 'absent', reason };
    }
    const reason = `${path}: ${unreadableReason(error)}`;
    return { state: stateOf(error), reason };
  }

  #nothing(publisher: Verdict): PollResult {
    return resultWithoutSource(this.#serverKey, publisher);
  }
}

const newBudget = (): Budget => new Budget({ steps: STEPS, ms: SLICE_MS, leastSteps: LEAST_STEPS });

/** Seconds since the manager counted its uptime for the last time, which it does each second. */
function ageOf(directory: SegmentDirectory): number | undefined {
  const uptime = uptimeOf(directory);
  if (uptime === undefined || directory.writer === undefined) return undefined;
  return Math.max(0, wallClockMs() / 1000 - directory.writer.birth - Number(uptime));
}

const untrusted = (uid: number): string => `belongs to user ${uid}, who is not in trusted_owners`;

function stateOf(error: unknown): Verdict['state'] {
  if (!(error instanceof Fault)) return 'absent';
  if (error.code === 'SEGMENT_INCOMPATIBLE') return 'incompatible';
  return error.code === 'SEGMENT_CORRUPT' ? 'corrupt' : 'absent';
}

/** The reason why an instance is absent. At a clean exit, Varnish keeps only the directory of the instance. */
function whyAbsent(path: string, serverKey: string): string {
  if (existsSync(path)) return `no varnishd runs in ${path}`;
  const missing = `there is no directory ${path}`;
  if (serverKey !== NAMELESS) return missing;
  const rule = `server key ${NAMELESS} means the instance without a name (varnishd -n), whose folder is named after the host`;
  const hasOwn = existsSync(`${dirname(path)}/${NAMELESS}`);
  return hasOwn
    ? `${missing}: ${rule}; the folder ${NAMELESS} belongs to another instance: give that instance another name`
    : `${missing}: ${rule}`;
}
