// Detects restarts of a component between polls.
import type { ComponentObject, ComponentTree } from './component-tree.js';

const PROCESS_CLASS = 'ManagedProcess.';
/** A start time that changes more often in a row is a clock; one unchanged as often is not. */
const MAX_NEW_TIMES = 3;

interface Identity {
  readonly processId: unknown;
  readonly time: unknown;
}

const identityOf = ({ variables }: ComponentObject): Identity => ({
  processId: variables.get('processID')?.value.value,
  time: variables.get('time')?.value.value,
});

/** True if two values exist and differ: a value missing from one tree says nothing. */
const differs = (before: unknown, now: unknown): boolean =>
  before !== undefined && now !== undefined && before !== now;

/**
 * Compares `processID` and `time` (of the start) of the process's roots from poll to poll. If
 * `time` keeps changing while the process id stays, it is not a start time, and is ignored until it
 * stops changing.
 */
export class RestartWatch {
  #known = new Map<string, Identity>();
  #newTimes = 0;
  #sameTimes = 0;

  /** True if the component was restarted since the last tree. */
  sees({ objects }: ComponentTree): boolean {
    const found = new Map<string, Identity>();
    let hasOtherId = false;
    let hasOtherTime = false;
    for (const [id, object] of objects) {
      if (object.parent !== undefined || !object.className.startsWith(PROCESS_CLASS)) continue;
      const now = identityOf(object);
      const before = this.#known.get(id);
      found.set(id, {
        processId: now.processId ?? before?.processId,
        time: now.time ?? before?.time,
      });
      if (differs(before?.processId, now.processId)) hasOtherId = true;
      else if (differs(before?.time, now.time)) hasOtherTime = true;
    }
    this.#known = found;
    if (hasOtherId) return true;
    this.#count(hasOtherTime);
    return hasOtherTime && !this.isTimeAClock;
  }

  #count(hasOtherTime: boolean): void {
    this.#sameTimes = hasOtherTime ? 0 : this.#sameTimes + 1;
    if (hasOtherTime) this.#newTimes++;
    // A clock read twice within its unit seems unchanged, but not for long.
    else if (!this.isTimeAClock || this.#sameTimes >= MAX_NEW_TIMES) this.#newTimes = 0;
  }

  /** True once `time` was found to be a clock. */
  get isTimeAClock(): boolean {
    return this.#newTimes > MAX_NEW_TIMES;
  }
}
