// The table of shared-memory formats, and the definition of a target.
import type { Catalogue, CatalogueText } from '../catalogue/catalogue.js';
import type { TargetSettings } from '../config/settings.js';
import { hsperfdataFinder, hsperfdataPollers } from '../hsperfdata/hsperfdata-poller.js';
import { HSPERFDATA_APP, HSPERFDATA_SETTINGS } from '../hsperfdata/settings.js';
import type { FoundRoot } from '../model.js';
import { multiprocessPollers } from '../multiprocess/multiprocess-poller.js';
import { MULTIPROCESS_SETTINGS, checkMultiprocess } from '../multiprocess/settings.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { SegmentFinder } from '../native/segment/segment-finder.js';
import { segmentPollers } from '../native/segment/segment-poller.js';
import { refined } from '../rules/rule.js';
import type { Rule } from '../rules/rule.js';
import { defaultsOf, table } from '../rules/table.js';
import type { TableFields, ValuesOf } from '../rules/table.js';
import type { FormatSettings, FormatPollerFactories } from '../streams/poller-pool.js';
import { immediateFinder } from '../streams/poller.js';
import type { Finder, PollerFactory } from '../streams/poller.js';
import { rowRulesOf } from '../workers/row-rules.js';
import { WORKERS_SETTINGS } from '../workers/settings.js';
import { workersPollers } from '../workers/workers-poller.js';
import { VARNISH_APP, VARNISH_SETTINGS } from '../varnish/settings.js';
import { varnishFinder, varnishPollers } from '../varnish/varnish-poller.js';

/** The settings of a target, with checked format settings and the text of its catalogue. Plain data. */
export interface TargetDefinition extends Omit<TargetSettings, 'formatSettings'> {
  /** The checked settings of `format`, a key of `FORMATS`. */
  readonly formatSettings: FormatSettings;
  /** Undefined if the application has no catalogue. */
  readonly catalogue: CatalogueText | undefined;
  /** The labels of the target on each of its series; undefined for none. */
  readonly targetLabels: TargetLabelNames | undefined;
  /** Labels of a discovered target from its server key, on its series after those of `targetLabels`. */
  readonly keyLabels: Readonly<Record<string, string>>;
  /** Whether discovery found the target. Such a target may go at any time. */
  readonly isDiscovered: boolean;
  /** Whether to log each sync step and each answer. */
  readonly isDebug: boolean;
}

/** The names of the labels that state the identity of a target; an empty name leaves the label out. */
export interface TargetLabelNames {
  readonly app: string;
  readonly serverKey: string;
  readonly root: string;
}

/** The labels of a target with this root on its series; none if the configuration adds none. */
export function targetLabelsOf(
  { app, targetLabels: names, keyLabels }: TargetDefinition,
  { serverKey, id }: FoundRoot,
): Readonly<Record<string, string>> {
  if (names === undefined) return {};
  const identity = [
    [names.app, app],
    [names.serverKey, serverKey],
    [names.root, id],
  ].filter(([name]) => name !== '');
  return { ...(Object.fromEntries(identity) as Record<string, string>), ...keyLabels };
}

/** Settings of the pool that a format may need to find its server keys. Plain data. */
export interface PoolSettings {
  readonly contextId: string;
  readonly poolName: string;
  /** How long a publisher without heartbeats is served; 0 means without limit. */
  readonly stalledAfterSeconds?: number | undefined;
  /** The users whose segments are read, in addition to root and this process's user. If empty, all segments are read. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The maximum number of objects and variables of a segment. */
  readonly segmentMaxItems?: number | undefined;
}

interface FormatParts extends PoolSettings {
  readonly memory: SharedMemory;
  /** Nanoseconds of the heartbeat clock; by default CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
}

/** A row of the table of formats. */
interface TargetFormat {
  /**
   * A phrase for operators: which values are proven to be consistent, and which are best effort. It says "every value"
   * only if no value can appear under another name or mix two updates.
   */
  readonly certainty: string;
  /** The application of all its roots; undefined if publishers choose it. */
  readonly app: string | undefined;
  /** Whether its publishers count notifications. If so, the status page shows the time of the last one. */
  readonly notifies: boolean;
  /** Whether its pollers keep values of publishers that have ended. Such a target stays in its partition. */
  readonly isStateful: boolean;
  /** The keys that `format_settings` of a target may have. */
  readonly settings: TableFields;
  readonly rule: Rule<FormatSettings>;
  /** Settings that the format takes from the application of the target and its catalogue, beside those of the user. */
  readonly ofTarget: (app: string, catalogue: Catalogue | undefined) => FormatSettings;
  readonly pollers: (parts: FormatParts, settings: FormatSettings) => PollerFactory;
  /** Makes the finder for `[discover]`. It uses the default settings of the format. */
  readonly finder: (parts: FormatParts, options: FinderOptions) => Finder;
}

/** The options of `[discover]` that a finder uses. */
interface FinderOptions {
  /** Patterns of server keys. */
  readonly native: readonly string[];
  readonly maxTargets: number;
}

/**
 * @param pollers is called with an object of the values of `settings`, and of those that `ofTarget` returns
 * @param finder is called with the defaults of `settings`
 */
const targetFormat = <F extends TableFields, O extends FormatSettings = FormatSettings>(
  {
    isStateful = false,
    ofTarget,
    check = () => undefined,
    ...row
  }: Pick<TargetFormat, 'certainty' | 'app' | 'notifies'> &
    Partial<Pick<TargetFormat, 'isStateful'>> & {
      readonly ofTarget?: (...target: Parameters<TargetFormat['ofTarget']>) => O;
      /** Checks values that are valid each. */
      readonly check?: Parameters<typeof refined<ValuesOf<F>>>[1];
    },
  settings: F,
  pollers: (parts: FormatParts, settings: ValuesOf<F> & O) => PollerFactory,
  finder: (parts: FormatParts, options: FinderOptions, defaults: ValuesOf<F>) => Finder,
): TargetFormat => ({
  ...row,
  isStateful,
  ofTarget: (...target) => ofTarget?.(...target) ?? {},
  settings,
  rule: refined(table('a table', settings), check),
  // `planTargets` has checked the values with `rule`, and added those of `ofTarget`.
  pollers: (parts, values) => pollers(parts, values as ValuesOf<F> & O),
  finder: (parts, options) => finder(parts, options, defaultsOf(settings)),
});

/** The formats by name. */
export const FORMATS: ReadonlyMap<string, TargetFormat> = new Map(
  Object.entries({
    native: targetFormat(
      { certainty: 'every value is proven exact', app: undefined, notifies: true },
      {},
      ({ memory, ...pool }) => segmentPollers(memory, pool),
      ({ memory, ...pool }, { native, maxTargets }) =>
        new SegmentFinder(memory, pool, native, maxTargets),
    ),
    workers: targetFormat(
      {
        certainty: 'every value is proven exact',
        app: undefined,
        notifies: true,
        isStateful: true,
        ofTarget: (_app, catalogue) => ({
          rows: catalogue === undefined ? undefined : rowRulesOf(catalogue),
        }),
      },
      WORKERS_SETTINGS,
      ({ memory, ...pool }, own) => workersPollers(memory, own, pool),
      () => immediateFinder(() => []),
    ),
    multiprocess: targetFormat(
      {
        certainty:
          'every value is proven exact, except which of two gauges of the mode mostrecent is newer',
        app: undefined,
        notifies: false,
        isStateful: true,
        ofTarget: (app) => ({ app }),
        check: checkMultiprocess,
      },
      MULTIPROCESS_SETTINGS,
      (parts, own) => multiprocessPollers(own, parts),
      () => immediateFinder(() => []),
    ),
    hsperfdata: targetFormat(
      {
        certainty: 'numbers are proven exact, strings are best effort',
        app: HSPERFDATA_APP,
        notifies: false,
      },
      HSPERFDATA_SETTINGS,
      (parts, own) => hsperfdataPollers(own, parts),
      () => hsperfdataFinder,
    ),
    varnish: targetFormat(
      { certainty: 'every value is proven exact', app: VARNISH_APP, notifies: false },
      VARNISH_SETTINGS,
      (parts, own) => varnishPollers(own, parts),
      (_parts, _options, defaults) => varnishFinder(defaults),
    ),
  }),
);

/** Maps each format name to a function that makes the poller factory for given format settings. */
export const formatPollers = (parts: FormatParts): FormatPollerFactories =>
  new Map(
    [...FORMATS].map(([name, { pollers }]) => [name, (settings) => pollers(parts, settings)]),
  );

/** Makes the finder of a format. @throws Error for an unknown format */
export function finderOf(format: string, parts: FormatParts, options: FinderOptions): Finder {
  const known = FORMATS.get(format);
  if (known === undefined) throw new Error(`There is no format ${format}`);
  return known.finder(parts, options);
}
