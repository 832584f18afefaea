// A partition: a worker, logical or a thread, that hosts targets. Spec 1.10.
import type { Observable } from 'rxjs';
import type { FoundRoot, TreeAnswer, TreeQuery } from '../../model.js';
import type { RefreshReport, Report } from '../../streams/report.js';
import type { Refresh } from '../../streams/target-inputs.js';
import type { TargetDefinition } from '../formats.js';

/** A target in a partition. */
export interface HostedTarget {
  /** Runs the target while this Observable has a subscriber; errors when the partition fails as a whole. */
  readonly report$: Observable<Report>;
  /** Emits one report, while the target runs. At most one refresh is open at a time. */
  refresh(refresh: Refresh): Observable<RefreshReport>;
  /** Emits one answer from its tree, while the target runs. Errors if the partition fails before the answer. */
  queryTree(query: TreeQuery): Observable<TreeAnswer>;
}

export interface Partition {
  readonly number: number;
  /** @param formerRoot the root that the target had before, which it chooses again if it exists */
  host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget;
  /** Releases its memory or thread; its targets must have ended before. */
  close(): void;
}
