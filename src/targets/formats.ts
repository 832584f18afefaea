// The formats of shared memory, one row each, and the definition of a target that reads one.
import type { CatalogueText } from '../catalogue/catalogue.js';
import type { FilterSettings } from '../catalogue/match/filters.js';
import type { TargetLimits } from '../exposition/target-limits.js';
import { hsperfdataWatches } from '../hsperfdata/hsperfdata-watch.js';
import { HSPERFDATA_SETTINGS } from '../hsperfdata/settings.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { segmentWatches } from '../native/segment/segment-watch.js';
import type { Rule } from '../rules/rule.js';
import { table } from '../rules/table.js';
import type { TableFields, ValuesOf } from '../rules/table.js';
import type { FormatSettings, FormatWatchFactories } from '../streams/server-pool.js';
import type { WatchFactory } from '../streams/watch.js';
import { VARNISH_SETTINGS } from '../varnish/settings.js';
import { varnishWatches } from '../varnish/varnish-watch.js';

export interface TargetDefinition extends FilterSettings {
  readonly app: string;
  /** One of `FORMATS`. */
  readonly format: string;
  /** The checked settings of that format. */
  readonly formatSettings: FormatSettings;
  readonly serverKeys: readonly string[];
  /** Root-selection hint; empty for none. */
  readonly instance: string;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** Whether variables that no row of the catalogue reads are shown as well. */
  readonly showsUncatalogued: boolean;
  /** Patterns of paths, for labels of series without a row. */
  readonly pathLabels: readonly string[];
  /** The time zone of the publisher's texts: an IANA name, or '' for the exporter's own. */
  readonly publisherTimeZone: string;
  readonly limits: TargetLimits;
  /** Undefined for an application without one. */
  readonly catalogue: CatalogueText | undefined;
  /** `render_min_interval_ms`. */
  readonly minRenderIntervalMs: number;
  /** Logs each sync step and each answer. */
  readonly isDebug: boolean;
}

/** Settings of the pool that a format may need to find its server keys. Plain data. */
export interface PoolSettings {
  readonly contextId: string;
  readonly poolName: string;
  /** How long a publisher without heartbeats is served; 0 for ever. */
  readonly stalledAfterSeconds?: number | undefined;
  /** The users whose segments are read, beside root and the process's own user; empty reads all. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The most objects and variables of a segment. */
  readonly segmentMaxItems?: number | undefined;
}

interface FormatParts extends PoolSettings {
  readonly memory: SharedMemory;
  /** Nanoseconds of the clock of heartbeats; by default the system's, CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
}

/** The row of a format. */
interface TargetFormat {
  /** A phrase for operators: which values are proven, and which are best effort. */
  readonly certainty: string;
  /** The keys that `format_settings` of a target may have. */
  readonly settings: TableFields;
  readonly rule: Rule<FormatSettings>;
  readonly watches: (parts: FormatParts, settings: FormatSettings) => WatchFactory;
}

/** @param watches gets the values of these settings, by their keys */
const targetFormat = <F extends TableFields>(
  certainty: string,
  settings: F,
  watches: (parts: FormatParts, settings: ValuesOf<F>) => WatchFactory,
): TargetFormat => ({
  certainty,
  settings,
  rule: table('a table', settings),
  // The plan has checked them with the rule above.
  watches: (parts, values) => watches(parts, values as ValuesOf<F>),
});

/** The formats by name. */
export const FORMATS: ReadonlyMap<string, TargetFormat> = new Map(
  Object.entries({
    native: targetFormat('every value proven', {}, ({ memory, ...pool }) =>
      segmentWatches(memory, pool),
    ),
    hsperfdata: targetFormat(
      'numbers proven, texts best effort',
      HSPERFDATA_SETTINGS,
      (parts, own) => hsperfdataWatches(own, parts),
    ),
    varnish: targetFormat('every value proven', VARNISH_SETTINGS, (parts, own) =>
      varnishWatches(own, parts),
    ),
  }),
);

/** The watches of each format, by its name and settings. */
export const formatWatches = (parts: FormatParts): FormatWatchFactories =>
  new Map(
    [...FORMATS].map(([name, { watches }]) => [name, (settings) => watches(parts, settings)]),
  );
