// What a target's condition is called, and how urgent it is.
import type { TargetStatus } from '../../../model.js';
import type { Mood } from './page.js';

export interface Condition {
  readonly mood: Mood;
  readonly word: string;
  /** What an operator reads to find out why; empty where all is well. */
  readonly reason: string;
  /** Whether the first sync is under way. */
  readonly isSyncing: boolean;
}

export function conditionOf({ isReady, root, progress, publisher }: TargetStatus): Condition {
  const { state, reason } = publisher;
  if (isReady) {
    const isLive = state === 'live';
    return {
      ...{ mood: isLive ? 'good' : 'warn', isSyncing: false },
      word: isLive ? 'ready' : `ready, ${state}`,
      reason: isLive ? '' : reason,
    };
  }
  const waiting = `waiting on ${progress.reason}`;
  const isSyncing = root !== '' && state === 'live';
  return {
    ...{ mood: isSyncing ? 'warn' : 'bad', isSyncing },
    word: isSyncing ? 'syncing' : 'not ready',
    reason:
      progress.reason.includes(reason) || state === 'live' ? waiting : `${waiting}; ${reason}`,
  };
}

const MOODS: readonly Mood[] = ['bad', 'warn', 'good'];

/** Lower for what is more urgent. */
export const urgencyOf = ({ mood }: Condition): number => MOODS.indexOf(mood);
