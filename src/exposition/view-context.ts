// The settings of a target's view, and the objects that all parts of the view share.
import type { Budget, BudgetLimits } from '../budget.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Filters, PathLabels } from '../catalogue/match/filters.js';
import type { ManagedObject, Source } from '../model.js';
import type { Counters } from './counters.js';
import type { SlotReader } from './read/slot-reader.js';
import type { StartTimes } from './read/start-times.js';
import type { TrackedNodes } from './read/tracked-nodes.js';
import type { PendingNodes } from './read/tree-walk.js';
import type { TargetLabels } from './rows/labels.js';
import type { OnOmitted, TargetLimits, TargetUsage } from './target-limits.js';
import type { ExpositionText } from './text/exposition-text.js';
import type { Kernel } from './wasm/kernel.js';

export interface ViewSettings {
  readonly app: string;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly root: ManagedObject;
  /** Defines the order of families and rows. Other families follow. */
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  /** Whether variables that no row of the catalogue reads are shown as well. */
  readonly showUncatalogued: boolean;
  /** Labels that begin the labels of all series; by default none. */
  readonly targetLabels?: TargetLabels;
  /** Labels that are added to series without a catalogue row. */
  readonly pathLabels: PathLabels;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** The time zone of times written as text: an IANA name, or '' for the zone of the process. */
  readonly timeZone: string;
  /** Called with each series that clashes with another series or metric, and the reason. */
  readonly onClash: (series: string, why: string) => void;
  /** The counters that the view adds to; by default, new counters. */
  readonly counters?: Counters;
  /** The clock for the start times of new nodes, in Unix milliseconds; by default the wall clock. */
  readonly unixMs?: () => number;
  /** The limits of the target; by default `DEFAULT_LIMITS`. */
  readonly limits?: TargetLimits;
  readonly onOmitted?: OnOmitted;
  /** Returns the limits of one call whose remaining work can wait; by default, `BIND_STEPS` steps. */
  readonly bindLimits?: () => BudgetLimits;
}

export interface ViewContext extends ViewSettings {
  readonly targetLabels: TargetLabels;
  readonly counters: Counters;
  readonly onOmitted: OnOmitted;
  readonly bindLimits: () => BudgetLimits;
  /** The queued changes of the tree. */
  readonly pending: PendingNodes;
  readonly slotReader: SlotReader;
  /** The nodes of `slotReader`. */
  readonly nodes: TrackedNodes;
  readonly starts: StartTimes;
  readonly text: ExpositionText;
  readonly usage: TargetUsage;
  /** The budget of the current call. All parts spend their steps of work on nodes and lines from it. */
  readonly budget: Budget;
}
