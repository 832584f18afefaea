// Takes changes and commands into a target's view: absorbs structure, copies values when needed.
import { concatMap, defer } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Bind } from './bindings.js';
import type { Refresh } from './command.js';
import type { Slices } from './slices.js';
import type { Sighting } from './watch.js';

/** What a segment showed. */
export interface Change {
  readonly kind: 'change';
  readonly sighting: Sighting;
  /** Number of sightings so far that brought structure. */
  readonly number: number;
}

/** The inputs of a target that has a root. */
export type TargetInput = Refresh | Change | Bind;

/** Merges two changes; undefined for other inputs. */
export function mergedChanges(first: TargetInput, next: TargetInput): TargetInput | undefined {
  if (first.kind !== 'change' || next.kind !== 'change') return undefined;
  const changes = first.sighting.changes.concat(next.sighting.changes);
  return { ...next, sighting: { ...next.sighting, changes } };
}

/** All else goes before a refresh: it shows the moment of its turn. */
export const precedes = (waiting: TargetInput, input: TargetInput): boolean =>
  waiting.kind !== 'refresh' && input.kind === 'refresh';

/** A target's view after it took in an input. */
export interface Refreshed {
  readonly input: TargetInput;
  /** Whether the text would differ from the last render; known of a refresh after the first sync. */
  readonly isDirty: boolean;
  /** Whether all of the tree is synced. */
  readonly isSynced: boolean;
  /** The publisher's wake-up that was taken in last. */
  readonly tick: number | undefined;
}

/** What a refresh needs of a target's view. */
export type Refreshes = Pick<
  TargetView,
  | 'bindMore'
  | 'absorb'
  | 'refreshing'
  | 'refreshFresh'
  | 'observe'
  | 'hasObserved'
  | 'hasMore'
  | 'isSynced'
>;

/** How much of a source's structure has been seen. */
export interface Structure {
  /** Number of sightings that brought structure, taken in or not. */
  readonly sightings: number;
  /** Whether the source has structure that no sighting has brought. */
  hasNews(): boolean;
}

/**
 * Takes in one input after the other, each in as many turns as it needs. A refresh copies the values,
 * unless the tree is still growing before the first full sync, where nothing can be served. A change
 * copies them only where that is needed: until the first full sync, and for observed variables at a
 * wake-up of the publisher.
 */
export function refreshView(
  view: Refreshes,
  slices: Slices,
  structure: Structure,
): OperatorFunction<TargetInput, Refreshed> {
  return (input$) =>
    defer(() => {
      let tick: number | undefined;
      let number = 0;
      let hasMore = true;
      let wasSynced = false;
      const isWhole = wholeness(structure);
      const taken = function* (input: TargetInput): Generator<void, Refreshed> {
        let hasMoved = false;
        if (input.kind === 'change') {
          const { sighting } = input;
          ({ number } = input);
          view.absorb(sighting.changes);
          yield;
          hasMoved = tick !== undefined && tick !== sighting.tick;
          tick = sighting.tick;
          hasMore = sighting.hasMore;
        }
        if (input.kind === 'bind' && view.bindMore()) yield;
        const isGrowing = () => hasMore || view.hasMore;
        const observes = hasMoved && view.hasObserved;
        const isWanted = observes || (wasSynced && input.kind === 'refresh');
        // While a tree is still growing, only what is new in it is copied. That may bind the last of it.
        if (!isWanted && isGrowing()) view.refreshFresh();
        const copies = isWanted || (!wasSynced && !isGrowing());
        const isChanged = copies && (yield* view.refreshing());
        const isDirty = observes ? view.observe() : isChanged;
        const isSynced = view.isSynced && !hasMore && (wasSynced || isWhole(number));
        wasSynced ||= isSynced;
        return { input, isDirty, isSynced, tick };
      };
      return input$.pipe(concatMap((input) => slices.result$(() => taken(input))));
    });
}

/**
 * Makes a check that all of the tree is known. Objects may have been added between the read of the
 * directory and the copy of the words. We are sure once the directory has nothing new, or after a
 * later read.
 */
function wholeness(structure: Structure): (number: number) => boolean {
  let sightingsThen: number | undefined;
  return (number) => {
    if (sightingsThen !== undefined && number > sightingsThen) return true;
    if (number === structure.sightings && !structure.hasNews()) return true;
    sightingsThen ??= structure.sightings;
    return false;
  };
}
