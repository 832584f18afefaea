// Whether a component is still the process that it was at the poll before.
import type { ComponentObject, ComponentTree } from './component-tree.js';

const PROCESS_CLASS = 'ManagedProcess.';
/** A start time that differs more often in a row is a clock; one that stands still as often is none. */
const MAX_NEW_TIMES = 3;

interface Identity {
  readonly processId: unknown;
  readonly time: unknown;
}

const identityOf = ({ variables }: ComponentObject): Identity => ({
  processId: variables.get('processID')?.value.value,
  time: variables.get('time')?.value.value,
});

/** Whether two values are there and not the same: what is left out in one tree says nothing. */
const differs = (before: unknown, now: unknown): boolean =>
  before !== undefined && now !== undefined && before !== now;

/**
 * Compares `processID` and `time` (of the start) of the process's roots from poll to poll. Where `time`
 * goes on while the process id stays, it is no start time, and counts no more until it stands still.
 */
export class RestartWatch {
  #known = new Map<string, Identity>();
  #newTimes = 0;
  #sameTimes = 0;

  /** Whether the component was restarted since the last tree. */
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
    // A clock that is read twice within its unit seems to stand still, though not for long.
    else if (!this.isTimeAClock || this.#sameTimes >= MAX_NEW_TIMES) this.#newTimes = 0;
  }

  /** Whether `time` was found to be a clock. */
  get isTimeAClock(): boolean {
    return this.#newTimes > MAX_NEW_TIMES;
  }
}
