// What the main thread and the thread of a partition say to each other. Plain data only.
import type { TargetFacts } from '../target-facts.js';
import type { FamilyFacts } from '../../model.js';
import type { Answer, HandedOver } from '../../streams/answer.js';
import type { Order } from '../../streams/order.js';
import type { TargetDefinition } from '../definition.js';
import type { HostOptions, Report } from '../hosting/partition.js';

/** What a thread is made with. */
export interface ThreadSetup {
  readonly number: number;
  readonly contextId: string;
  readonly poolName: string;
  readonly stalledAfterSeconds?: number | undefined;
}

/** Where the text of a snapshot lies in the memory of a thread. */
export interface TextMap {
  /** Undefined when they are those of the snapshot before it. */
  readonly facts: readonly FamilyFacts[] | undefined;
  /** For each piece: index of its family, address, length. */
  readonly pieces: Uint32Array<ArrayBuffer>;
  readonly bytes: number;
  readonly series: number;
}

/** A snapshot that is held for the other thread until that gives it back. */
export interface Lent {
  readonly id: number;
  /** Undefined when the target lent the same one last. */
  readonly text: TextMap | undefined;
  /** The memory, when it has grown since it was sent last. */
  readonly memory: SharedArrayBuffer | undefined;
}

type Sent<T> = Omit<T, 'snapshot'> & { readonly snapshot: Lent | undefined };
export type SentReport =
  Sent<Answer> | Sent<HandedOver> | Exclude<Report, { readonly snapshot: unknown }>;

/** What a thread asks of a segment that it has open. */
export type FileMessage =
  | {
      readonly kind: 'opened';
      readonly file: number;
      readonly name: string;
      readonly identity: string;
    }
  | { readonly kind: 'ask-lock'; readonly file: number }
  | {
      readonly kind: 'wait';
      readonly file: number;
      readonly wait: number;
      readonly position: number;
      readonly expected: number;
    }
  | { readonly kind: 'end-wait'; readonly file: number; readonly wait: number }
  | { readonly kind: 'closed'; readonly file: number };

/** What it is told of it. */
export type FileReply =
  | { readonly kind: 'lock'; readonly file: number; readonly isLocked: boolean }
  /** The system refuses to tell. */
  | { readonly kind: 'no-lock'; readonly file: number; readonly reason: string }
  | { readonly kind: 'moved'; readonly file: number; readonly wait: number };

export type ToThread =
  | {
      readonly kind: 'start';
      readonly target: number;
      readonly definition: TargetDefinition;
      readonly options: Omit<HostOptions, 'order$'>;
    }
  | { readonly kind: 'order'; readonly target: number; readonly order: Order }
  | { readonly kind: 'stop'; readonly target: number }
  | { readonly kind: 'given-back'; readonly snapshot: number; readonly times: number }
  | FileReply;

export type FromThread =
  | {
      readonly kind: 'report';
      readonly target: number;
      readonly report: SentReport;
      readonly facts: TargetFacts;
    }
  | { readonly kind: 'failed'; readonly target: number; readonly reason: string }
  | FileMessage;
