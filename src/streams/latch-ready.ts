// The startup gate of a target. Spec 3.
import { defer, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { Refreshed } from './refresh-view.js';

export interface Gated extends Refreshed {
  readonly isReady: boolean;
}

/** Turns ready at the first full sync and stays so: late objects never reopen the startup gate. */
export function latchReady(): OperatorFunction<Refreshed, Gated> {
  return (event$) =>
    defer(() => {
      let isReady = false;
      return event$.pipe(
        map(({ input, isDirty, isSynced, tick }) => {
          isReady ||= isSynced;
          return { input, isDirty, isSynced, tick, isReady };
        }),
      );
    });
}
