// What the live state of one target is made of.
import type { Budget } from '../budget.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Filters, PathLabels } from '../catalogue/match/filters.js';
import type { ManagedObject, Source } from '../model.js';
import type { Counters } from './counters.js';
import type { Kernel } from './wasm/kernel.js';
import type { OnClash } from './rows/series-register.js';
import type { OnOmitted, TargetLimits } from './target-limits.js';

export interface ViewParts {
  readonly app: string;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  /** Whether variables that no row of the catalogue reads are shown as well. */
  readonly showsUncatalogued: boolean;
  /** Further labels of series without a row. */
  readonly pathLabels: PathLabels;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** The time zone of times written as text: an IANA name, or '' for that of the process. */
  readonly timeZone: string;
  /** Called with each series that was left out because another has its name and labels. */
  readonly onClash: OnClash;
  /** The counters that the view adds to; by default its own. */
  readonly counters?: Counters;
  /** What it may have; by default `DEFAULT_LIMITS`. */
  readonly limits?: TargetLimits;
  readonly onOmitted?: OnOmitted;
  /** The most work of one call if the rest can wait; by default `VIEW_STEPS`. */
  readonly slice?: () => Budget;
}
