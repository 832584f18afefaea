// Which events happened while something else was under way for the same target: the interleavings that courses met.
import type { ChangeKind } from './publication.js';

/** What takes time. */
export const SPANS = ['start', 'demand', 'refresh', 'move', 'reload'] as const;
export type SpanKind = (typeof SPANS)[number];

/** What happens at a moment. */
const MOMENTS = [
  ...['add object', 'add variable', 'remove object', 'remove variable'],
  ...['set', 'first value', 'unset', 'object unsynced', 'object synced'],
  ...['notify', 'publish', 'close', 'kill', 'root goes', 'root comes'],
  ...['demand', 'move', 'reload', 'die'],
] as const;
export type MomentKind =
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
  | 'die';

/** All meetings that there can be. */
export const MEETINGS: readonly string[] = MOMENTS.flatMap((moment) =>
  SPANS.map((span) => `${moment} during ${span}`),
);

export class Meetings {
  readonly met = new Set<string>();
  /** Of each target, how many of each kind are under way. */
  readonly #open = new Map<string, Map<SpanKind, number>>();

  /** Something begins for a target; call the result once, at its end. */
  begin(kind: SpanKind, tag: string): () => void {
    this.#count(kind, tag, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(kind, tag, -1);
      isOpen = false;
    };
  }

  /** Something happens to those targets that it concerns. */
  happens(kind: MomentKind, concerns: (tag: string) => boolean): void {
    for (const [tag, open] of this.#open)
      for (const [span, count] of open)
        if (count > 0 && concerns(tag)) this.met.add(`${kind} during ${span}`);
  }

  #count(kind: SpanKind, tag: string, by: 1 | -1): void {
    const open = this.#open.get(tag) ?? new Map<SpanKind, number>();
    this.#open.set(tag, open);
    open.set(kind, (open.get(kind) ?? 0) + by);
  }
}
