// Takes changes and commands into a target's view: absorbs structure, copies values when needed.
import { defer, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Bound } from './bind-subtree.js';
import type { Command } from './command.js';
import type { Sighting } from './watch.js';

/** What a segment showed. */
export interface Change {
  readonly kind: 'change';
  readonly sighting: Sighting;
  /** How many sightings that brought structure there were so far. */
  readonly number: number;
}

/** What reaches a bound target. */
export type TargetInput = Command | Change | Bound;

/** Merges two consecutive changes; undefined for other inputs. */
export function mergedChanges(first: TargetInput, next: TargetInput): TargetInput | undefined {
  if (first.kind !== 'change' || next.kind !== 'change') return undefined;
  const changes = first.sighting.changes.concat(next.sighting.changes);
  return { ...next, sighting: { ...next.sighting, changes } };
}

/** A target's view after it took in an input. */
export interface Refreshed {
  readonly input: TargetInput;
  /** Whether the text would differ from the last render; only a refresh always knows. */
  readonly isDirty: boolean;
  /** Whether all of the tree is synced. */
  readonly isSynced: boolean;
  /** The publisher's wake-up that was taken in last. */
  readonly tick: number | undefined;
}

/** What a refresh needs of a target's view. */
export type Refreshes = Pick<
  TargetView,
  'absorb' | 'refresh' | 'refreshFresh' | 'observe' | 'adopt' | 'hasObserved' | 'isSynced'
>;

export interface RefreshOptions {
  /** Whether a predecessor still observes: then nothing is counted twice. */
  readonly isStandby: boolean;
  readonly structure: Structure;
}

/** What is known of a source's structure, taken in or not. */
export interface Structure {
  /** How many sightings brought some. */
  readonly sightings: number;
  /** Whether there is some that no sighting has brought yet. */
  hasNews(): boolean;
}

/**
 * A refresh always copies the values. A change copies them only where somebody waits for them: the
 * first sync, or observed variables at a wake-up of the publisher.
 */
export function refreshView(
  view: Refreshes,
  { isStandby, structure }: RefreshOptions,
): OperatorFunction<TargetInput, Refreshed> {
  return (input$) =>
    defer(() => {
      let tick: number | undefined;
      let number = 0;
      let hasMore = true;
      let wasSynced = false;
      let isObserving = !isStandby;
      const isWhole = wholeness(structure);
      return input$.pipe(
        map((input): Refreshed => {
          let hasMoved = false;
          if (input.kind === 'change') {
            const { sighting } = input;
            ({ number } = input);
            view.absorb(sighting.changes);
            hasMoved = tick !== undefined && tick !== sighting.tick;
            tick = sighting.tick;
            hasMore = sighting.hasMore;
          }
          if (input.kind === 'take-over') {
            const { observations } = input;
            const goesOn = view.adopt(observations);
            // A wake-up that the predecessor did not live to take in was only noted here.
            hasMoved = goesOn && tick !== undefined && tick !== observations.tick;
            isObserving = true;
          }
          if (input.kind === 'leave') isObserving = false;
          // While a tree is still growing, only what is new in it is copied.
          const isGrowing = hasMore || (input.kind === 'bound' && input.hasMore);
          const observes = hasMoved && isObserving && view.hasObserved;
          const copies = input.kind === 'refresh' || (!wasSynced && !isGrowing) || observes;
          if (!copies && isGrowing) view.refreshFresh();
          const isChanged = copies && view.refresh();
          const isDirty = observes ? view.observe() : isChanged;
          const isSynced = view.isSynced && !hasMore && (wasSynced || isWhole(number));
          wasSynced ||= isSynced;
          return { input, isDirty, isSynced, tick };
        }),
      );
    });
}

/**
 * Makes the check whether the tree that is known is all there is. It may have become synced after
 * the directory was read, and then there may be more. We are sure once the directory has nothing
 * new, or after a later read.
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
