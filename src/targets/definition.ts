// What a target is, as plain data: enough to run it in any thread.
import type { CatalogueText } from '../catalogue/catalogue.js';
import type { FilterSettings } from '../catalogue/match/filters.js';
import type { FormatSettings } from './formats.js';
import type { TargetLimits } from '../exposition/target-limits.js';

export interface TargetDefinition extends FilterSettings {
  readonly app: string;
  /** One of `FORMATS`. */
  readonly format: string;
  /** Those of that format, checked. */
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
  /** Of the texts of points in time: an IANA name, or '' for the exporter's own. */
  readonly publisherTimeZone: string;
  readonly limits: TargetLimits;
  /** Undefined for an application without one. */
  readonly catalogue: CatalogueText | undefined;
  /** `render_min_interval_ms`. */
  readonly spacingMs: number;
  /** Logs each sync step and each answer. */
  readonly isDebug: boolean;
}
