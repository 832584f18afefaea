// When a view binds the next slice of its tree: again and again, in turn with all else that a target does.
import { Observable } from 'rxjs';

/** The next slice is to be bound. */
export interface Bind {
  readonly kind: 'bind';
}

/** Calls back whenever there is more to bind; returns what ends that. */
export type WhenMore = (wake: () => void) => () => void;

/** Emits at once, and whenever there is more. */
export const bindings = (whenMore: WhenMore): Observable<Bind> =>
  new Observable((subscriber) => {
    const bind = (): void => {
      subscriber.next({ kind: 'bind' });
    };
    const end = whenMore(bind);
    bind();
    return end;
  });
