// Whether a component is still the process that it was at the poll before.
import type { ComponentObject, ComponentTree } from './component-tree.js';

const PROCESS_CLASS = 'ManagedProcess.';
/** A start time that differs so often in a row is a clock. */
const MOST_NEW_TIMES = 3;

interface Identity {
  readonly processId: unknown;
  readonly time: unknown;
}

const identityOf = ({ variables }: ComponentObject): Identity => ({
  processId: variables.get('processID')?.value.value,
  time: variables.get('time')?.value.value,
});

/**
 * Compares `processID` and `time` (of the start) of the process's roots from poll to poll. Where `time`
 * goes on while the process id stays, it is no start time, and counts no more.
 */
export class RestartWatch {
  #known = new Map<string, Identity>();
  #newTimes = 0;

  /** Whether the component was restarted since the last tree. */
  sees({ objects }: ComponentTree): boolean {
    const found = new Map<string, Identity>();
    let hasOtherId = false;
    let hasOtherTime = false;
    for (const [id, object] of objects) {
      if (object.parent !== undefined || !object.className.startsWith(PROCESS_CLASS)) continue;
      const now = identityOf(object);
      const before = this.#known.get(id);
      found.set(id, now);
      if (before === undefined) continue;
      if (before.processId !== now.processId) hasOtherId = true;
      else if (before.time !== now.time) hasOtherTime = true;
    }
    this.#known = found;
    if (hasOtherId) return true;
    this.#newTimes = hasOtherTime ? this.#newTimes + 1 : this.isTimeAClock ? this.#newTimes : 0;
    return hasOtherTime && !this.isTimeAClock;
  }

  /** Whether `time` was found to be a clock. */
  get isTimeAClock(): boolean {
    return this.#newTimes > MOST_NEW_TIMES;
  }
}
