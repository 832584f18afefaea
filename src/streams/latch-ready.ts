// The startup gate of a target. Spec 3.
import { defer, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';

/** Turns ready at the first full sync and stays so: late objects never reopen the startup gate. */
export function latchReady<E extends { readonly isSynced: boolean }>(): OperatorFunction<
  E,
  E & { readonly isReady: boolean }
> {
  return (event$) =>
    defer(() => {
      let isReady = false;
      return event$.pipe(map((event) => ({ ...event, isReady: (isReady ||= event.isSynced) })));
    });
}
