// Coverage of interleavings: which events happened during which operations on the same target.
import type { ChangeKind } from './publication.js';

/** Operations that take time. */
export const OPERATIONS = ['start', 'demand', 'refresh', 'move', 'reload'] as const;
export type OperationKind = (typeof OPERATIONS)[number];

/** Events without a duration. */
const EVENT_KINDS = [
  ...['add object', 'add variable', 'remove object', 'remove variable'],
  ...['set', 'first value', 'unset', 'object unsynced', 'object synced', 'set state'],
  ...['notify', 'publish', 'close', 'kill', 'root goes', 'root comes'],
  ...['demand', 'move', 'reload', 'thread failure'],
] as const;
export type EventKind =
  | ChangeKind
  | 'notify'
  | 'publish'
  | 'close'
  | 'kill'
  | 'root goes'
  | 'root comes'
  | 'demand'
  | 'move'
  | 'reload'
  | 'thread failure';

/** All possible interleavings. */
export const INTERLEAVINGS: readonly string[] = EVENT_KINDS.flatMap((event) =>
  OPERATIONS.map((operation) => `${event} during ${operation}`),
);

export class Interleavings {
  readonly covered = new Set<string>();
  /** The number of open operations of each kind, by target. */
  readonly #open = new Map<string, Map<OperationKind, number>>();

  /** Starts an operation on a target; returns the function that ends it. */
  begin(kind: OperationKind, tag: string): () => void {
    this.#count(kind, tag, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(kind, tag, -1);
      isOpen = false;
    };
  }

  /** Records an event for all targets for which `concerns` returns true. */
  record(kind: EventKind, concerns: (tag: string) => boolean): void {
    for (const [tag, open] of this.#open)
      for (const [operation, count] of open)
        if (count > 0 && concerns(tag)) this.covered.add(`${kind} during ${operation}`);
  }

  #count(kind: OperationKind, tag: string, by: 1 | -1): void {
    const open = this.#open.get(tag) ?? new Map<OperationKind, number>();
    this.#open.set(tag, open);
    open.set(kind, (open.get(kind) ?? 0) + by);
  }
}
