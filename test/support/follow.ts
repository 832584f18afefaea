// Subscribes in a test: an unexpected error fails the test that caused it.
import type { Observable, Subscription } from 'rxjs';

/** Collects all values until `subscription` ends. */
export function follow<T>(source$: Observable<T>): {
  readonly seen: readonly T[];
  readonly subscription: Subscription;
} {
  const seen: T[] = [];
  const subscription = source$.subscribe({
    next: (value) => seen.push(value),
    error: (error: unknown) => {
      throw error;
    },
  });
  return { seen, subscription };
}
