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

/** The report on a refresh in the form that crosses threads. */
export type SentReport = Omit<RefreshReport, 'snapshot'> & {
  readonly snapshot: SentSnapshot | undefined;
};

/** A request about the target that the request with the id `target` hosts. */
export type TargetRequest =
  | { readonly kind: 'refresh'; readonly target: number; readonly refresh: Refresh }
  | { readonly kind: 'query'; readonly target: number; readonly query: TreeQuery };

/** A request to a thread. */
export type ThreadRequest = { readonly id: number } & (
  | {
      readonly kind: 'host';
      readonly definition: TargetDefinition;
      readonly formerRoot: FoundRoot | undefined;
    }
  | TargetRequest
);

export type ToThread = ThreadRequest | { readonly kind: 'cancel'; readonly id: number } | FileReply;

export type FromThread =
  /** A report of the target with this id. */
  | { readonly kind: 'report'; readonly id: number; readonly report: Report }
  /** The answer to a refresh or query; undefined if the target does not run in the thread. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: SentReport | TreeAnswer | undefined;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  | FileMessage;
