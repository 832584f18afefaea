// The messages between the main thread and the thread of a partition. Plain data only.
import type {
  FamilyMetadata,
  FoundRoot,
  LineForm,
  Snapshot,
  TreeAnswer,
  TreeQuery,
} from '../../model.js';
import type { Refresh, RefreshReport, Report } from '../../streams/report.js';
import type { PoolSettings, TargetDefinition } from '../formats.js';
import type { FileMessage, FileReply } from './remote-memory.js';

/** The parameters of a thread. */
export interface ThreadSetup extends PoolSettings {
  readonly number: number;
  /** The compiled kernel; without it the thread reads the kernel from its file. */
  readonly kernel?: WebAssembly.Module;
}

/** See `SnapshotLayout.pieces`. */
export const NUMBERS_A_PIECE = 6;

/** Where the text of a snapshot is in the memory of its thread. */
export interface SnapshotLayout extends Pick<Snapshot, 'violatesOpenMetrics'> {
  /** The metadata of its families; undefined if the last snapshot of the target has the same list. */
  readonly metadata: readonly FamilyMetadata[] | undefined;
  /**
   * The pieces of each form that was rendered. A piece has six numbers: the index of its family, the number of lines,
   * the address and the length of `data`, then `bytes` and `crc`.
   */
  readonly pieces: ReadonlyMap<LineForm, Uint32Array<ArrayBuffer>>;
}

/** A snapshot that stays in the memory of its thread while it has holders. */
export interface SentSnapshot {
  /** The number of holders in the main thread; one of them is the report with this snapshot. */
  readonly holders: Int32Array<SharedArrayBuffer>;
  /** Undefined if the last message of the target had the same snapshot. */
  readonly layout: SnapshotLayout | undefined;
  /** The memory, if it has grown since the last message. */
  readonly memory: SharedArrayBuffer | undefined;
}

/** The report on a refresh in the form that crosses threads. */
export type SentReport = Omit<RefreshReport, 'snapshot'> & {
  readonly snapshot: SentSnapshot | undefined;
};

export type ToThread =
  | {
      readonly kind: 'start';
      readonly target: number;
      readonly definition: TargetDefinition;
      readonly formerRoot: FoundRoot | undefined;
    }
  | { readonly kind: 'refresh'; readonly target: number; readonly refresh: Refresh }
  | { readonly kind: 'stop'; readonly target: number }
  | {
      readonly kind: 'query';
      readonly target: number;
      readonly id: number;
      readonly query: TreeQuery;
    }
  /** Cancels a query. */
  | { readonly kind: 'end-query'; readonly id: number }
  | FileReply;

export type FromThread =
  | { readonly kind: 'report'; readonly target: number; readonly report: Report }
  /** The answer to the last refresh of the target. */
  | { readonly kind: 'refreshed'; readonly target: number; readonly report: SentReport }
  | { readonly kind: 'failed'; readonly target: number; readonly reason: string }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: TreeAnswer | undefined }
  | FileMessage;
