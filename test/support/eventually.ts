// Waits, with a deadline, for an effect of the kernel, a socket or another process.
import { setTimeout } from 'node:timers/promises';

import type { TargetStatus } from '#app/model.js';

const LONGEST_MS = 20_000;

/** Resolves once the condition holds; rejects with `what` and the present `state` after the deadline. */
export async function eventually(
  what: string,
  holds: () => boolean,
  longestMs = LONGEST_MS,
  state = (): string => '',
): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += 2) {
    if (holds()) return;
    await setTimeout(2);
  }
  throw new Error(`Waited ${longestMs} ms for: ${what}${state()}`);
}

/** The properties of a target that the error of a failed wait shows. */
interface Awaited {
  status(): Pick<TargetStatus, 'isReady' | 'progress'>;
}

/**
 * Resolves once the condition holds for a target; rejects with the target's present state after the deadline.
 */
export const eventuallyFor = (
  target: Awaited,
  what: string,
  holds: () => boolean,
  longestMs = LONGEST_MS,
): Promise<void> => eventually(what, holds, longestMs, () => stateOf(target.status()));

/** Resolves once the target is ready. Rejects after the deadline with the reason why it is not ready. */
export const eventuallyReady = (target: Awaited, longestMs?: number): Promise<void> =>
  eventuallyFor(target, 'it is ready', () => target.status().isReady, longestMs);

const stateOf = ({ isReady, progress }: ReturnType<Awaited['status']>): string => {
  const { objects, variables, reason } = progress;
  const synced = `objects ${objects.synced}/${objects.total}, variables ${variables.synced}/${variables.total}`;
  return isReady ? `; it is ready: ${synced}` : `; it waits for ${reason}: ${synced}`;
};
