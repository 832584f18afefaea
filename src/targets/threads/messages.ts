// The messages between the main thread and the thread of a partition. Plain data only.
import type { FoundRoot, Refresh, TreeAnswer, TreeQuery } from '../../model.js';
import type { RefreshReport, Report } from '../../streams/report.js';
import type { PoolSettings, TargetDefinition } from '../formats.js';
import type { FileMessage, FileReply } from './remote-memory.js';
import type { SentSnapshot } from './snapshots.js';

/** The parameters of a thread. */
export interface ThreadSetup extends PoolSettings {
  readonly number: number;
  /** The compiled kernel; without it the thread reads the kernel from its file. */
  readonly kernel?: WebAssembly.Module;
}

/** A report in the form that crosses threads. */
export type SentReport =
  | Exclude<Report, RefreshReport>
  | (Omit<RefreshReport, 'snapshot'> & { readonly snapshot: SentSnapshot | undefined });

/** A request to a thread. `target` is the id of the request that hosts the target. */
export type ThreadRequest =
  | {
      readonly kind: 'host';
      readonly id: number;
      readonly definition: TargetDefinition;
      readonly formerRoot: FoundRoot | undefined;
    }
  | {
      readonly kind: 'query';
      readonly id: number;
      readonly target: number;
      readonly query: TreeQuery;
    };

export type ToThread =
  | ThreadRequest
  /** A report of the target answers it. */
  | { readonly kind: 'refresh'; readonly target: number; readonly refresh: Refresh }
  | { readonly kind: 'cancel'; readonly id: number }
  | FileReply;

export type FromThread =
  /** A report of the target with this id. */
  | { readonly kind: 'report'; readonly id: number; readonly report: SentReport }
  /** The answer to a query; undefined if the target does not run in the thread. */
  | { readonly kind: 'answer'; readonly id: number; readonly answer: TreeAnswer | undefined }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  | FileMessage;
