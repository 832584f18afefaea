// Runs a simulated publisher: a generated tree that changes, or a scenario.
import {
  EMPTY,
  concatMap,
  defer,
  filter,
  from,
  ignoreElements,
  interval,
  map,
  repeat,
  take,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { LiveTree } from './live-tree.js';
import type { ObjectPublisher } from './object-publisher.js';
import type { Scenario, ScenarioStep } from './scenario-model.js';
import { Stage } from './stage.js';

/** How a simulation ends by itself: with a clean close, or killed at once. */
export type Ending = 'clean' | 'kill';

/** Writes heartbeats while subscribed; never completes. */
export function live(
  publisher: ObjectPublisher,
  tree: LiveTree,
  rateHz: number,
  fraction: number,
): Observable<Ending> {
  const beat$ = interval(1000 / rateHz).pipe(
    tap(() => {
      tree.beat(fraction);
      publisher.notify();
    }),
    ignoreElements(),
  );
  return rateHz > 0 ? beat$ : EMPTY;
}

/** Publishes the scenario's objects on a stage; call it before the publisher is placed. */
export function stageOf(publisher: ObjectPublisher, { objects }: Scenario): Stage {
  const stage = new Stage(publisher);
  for (const object of objects) stage.add(object);
  return stage;
}

/** Plays the steps one after the other; keeps publishing after the last one. */
export function play(
  publisher: ObjectPublisher,
  stage: Stage,
  { steps, repeat: isEndless }: Scenario,
): Observable<Ending> {
  const one = (step: ScenarioStep): Observable<ScenarioStep> =>
    timer(step.afterMs).pipe(
      map(() => {
        stage.play(step);
        publisher.notify();
        return step;
      }),
    );
  const once$ = defer(() => from(steps)).pipe(concatMap(one));
  const played$ = steps.length > 0 && isEndless ? once$.pipe(repeat()) : once$;
  return played$.pipe(
    map(({ exit }) => exit),
    filter((exit) => exit !== undefined),
    take(1),
  );
}
