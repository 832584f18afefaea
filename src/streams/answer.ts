// Carries out decisions: renders, serves the last render, hands over, or has nothing to serve.
import { EMPTY, defer, finalize, mergeMap, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Snapshot } from '../model.js';
import type { Arrival, Decision } from './coalesce.js';
import type { Handover } from './order.js';
import type { Refreshed } from './refresh-view.js';

/** What a demand gets. */
export interface Answer {
  readonly kind: 'answer';
  /** The demand's number; undefined for a render that nobody waits for. */
  readonly id: number | undefined;
  /** `hit`: the last render as it was; `miss`: a new one; `waiting`: nothing can be served yet. */
  readonly outcome: 'hit' | 'miss' | 'waiting';
  /**
   * Its bytes stay until the emission returns, unless they are held. Undefined while waiting, and
   * for a hit on what a predecessor rendered.
   */
  readonly snapshot: Snapshot | undefined;
}

/** The end of a target: what its successor goes on from, and the text it goes on serving. */
export interface HandedOver {
  readonly kind: 'handed-over';
  readonly handover: Handover;
  readonly snapshot: Snapshot | undefined;
}

/** The answer of a target that has nothing to serve. */
export const unanswered = (id: number): Answer => ({
  kind: 'answer',
  id,
  outcome: 'waiting',
  snapshot: undefined,
});

/** The handover of a target that has nothing to hand over. */
export const NOTHING_HANDED_OVER: HandedOver = {
  kind: 'handed-over',
  handover: {
    sinceRenderMs: undefined,
    owesRender: false,
    generation: '',
    tick: undefined,
    observed: [],
  },
  snapshot: undefined,
};

/** What an answer needs of a target's view. */
export type Renders = Pick<TargetView, 'render' | 'generation' | 'observations'>;

type Asked = Arrival & Pick<Refreshed, 'input' | 'tick'>;

export function answer(view: Renders): OperatorFunction<Decision<Asked>, Answer | HandedOver> {
  return (decision$) =>
    defer(() => {
      let last: Snapshot | undefined;
      let release = (): void => undefined;
      // Lines may go between two renders; what they leave behind is still to be served meanwhile.
      const render = (): Snapshot => {
        // Let go first: blocks then write into memory that was used a moment ago.
        release();
        last = undefined;
        const next = view.render();
        release = next.hold();
        return (last = next);
      };
      const carryOut = ({
        action,
        arrival: { input, tick },
        sinceRenderMs,
        owesRender,
      }: Decision<Asked>): Observable<Answer | HandedOver> => {
        const id = input.kind === 'demand' ? input.id : undefined;
        if (action === 'wait' && id !== undefined) return of(unanswered(id));
        if (action === 'serve')
          return of({ kind: 'answer', id, outcome: 'hit', snapshot: last } as const);
        if (action === 'render')
          return of({ kind: 'answer', id, outcome: 'miss', snapshot: render() } as const);
        if (input.kind !== 'leave') return EMPTY;
        const { generation, observations: observed } = view;
        const handover = { sinceRenderMs, owesRender, generation, tick, observed };
        return of({ kind: 'handed-over', handover, snapshot: last } as const);
      };
      return decision$.pipe(
        mergeMap(carryOut),
        finalize(() => {
          release();
        }),
      );
    });
}
