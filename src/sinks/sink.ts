// The interface of a sink, and the identity labels of targets.
import {
  NEVER,
  asyncScheduler,
  concat,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  of,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { DemandAnswer, LabelledAnswer, Target } from '../model.js';

/** An event that any sink can emit. A sink adds its own counts to the self-metrics. */
export type SinkEvent =
  /** Metrics are available at `where`. */
  | { readonly kind: 'opened'; readonly where: string }
  /** A response or document has ended. */
  | {
      readonly kind: 'served';
      /** The number of written bytes. */
      readonly bytes: number;
      readonly outcome: Outcome;
    }
  /** The sink closed a connection before its first request. */
  | { readonly kind: 'refused'; readonly address: string; readonly reason: string }
  /** The sink skipped a snapshot. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** `refused`: the reader got an error instead of metrics. `cut`: the reader got an incomplete response. */
type Outcome = 'delivered' | 'refused' | 'cut';

/** The current targets; a reload replaces the list. */
export interface Targets {
  readonly targets: readonly Target[];
  /** True until discovery has finished its first pass. */
  readonly isDiscovering?: boolean;
}

/**
 * The last stage of the pipeline. Subscribing opens the sink, unsubscribing closes it. A sink uses
 * targets and pages, but no segments and no streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

/** The server key of the last root; the first server key if there was no root. */
export const serverKeyOf = ({ lastRoot, serverKeys }: Target): string =>
  lastRoot?.serverKey ?? serverKeys[0] ?? '';

/** The labels that identify a target in the self-metrics and in service discovery. */
export type IdentityLabels = Readonly<Record<string, string>>;

/**
 * The unique identity labels of each target. They do not name the root, so series continue when the root changes.
 * Only a root on another server key changes them. The label `twin` numbers targets that are otherwise equal, in the
 * order of the configuration.
 */
export function identitiesOf(targets: readonly Target[]): ReadonlyMap<Target, IdentityLabels> {
  const seen = new Map<string, number>();
  const identities = targets.map((target): [Target, IdentityLabels] => {
    const { app, instance } = target;
    const labels = { app, server_key: serverKeyOf(target), ...(instance && { hint: instance }) };
    const text = JSON.stringify(labels);
    const number = (seen.get(text) ?? 0) + 1;
    seen.set(text, number);
    return [target, number === 1 ? labels : { ...labels, twin: String(number) }];
  });
  return new Map(identities);
}

/** Whether a discovered target only waits for its removal, since its publisher has ended. */
export const hasEnded = (target: Target): boolean =>
  target.isDiscovered && ['closed', 'dead'].includes(target.status().publisher.state);

/**
 * Whether a document of several targets may have the answer. After a reload that adds the labels of targets, the lines
 * of a target lack them until its next hosting serves.
 */
export const isLabelled = (answer: DemandAnswer): answer is LabelledAnswer =>
  answer.kind === 'ready' && answer.labels !== undefined;

/** The answers of targets, in their order. The snapshots stay valid until `release` is called. */
interface HeldAnswers {
  readonly answers: readonly DemandAnswer[];
  readonly release: () => void;
}

/**
 * Makes a demand on all targets at once. Emits their answers once, and completes.
 * @param late$ ends the wait: targets without an answer count as waiting
 */
export const demandAll = (
  targets: readonly Target[],
  demand: (target: Target) => Observable<DemandAnswer>,
  late$: Observable<unknown> = NEVER,
): Observable<HeldAnswers> =>
  defer(() => {
    const answers: DemandAnswer[] = [];
    const holds: (() => void)[] = [];
    const release = (): void => {
      for (const releaseOne of holds.splice(0)) releaseOne();
    };
    let isTaken = false;
    const held = (target: Target, index: number): Observable<void> =>
      demand(target).pipe(
        map((answer) => {
          // Hold it at once: a later demand of another client may render the target again.
          if (answer.kind === 'ready') holds.push(answer.snapshot.hold());
          answers[index] = answer;
        }),
      );
    const waiting = (target: Target): DemandAnswer => ({
      kind: 'waiting',
      status: target.status(),
    });
    const wait$ = merge(...targets.map(held)).pipe(ignoreElements(), takeUntil(late$));
    const result$ = defer(() => {
      isTaken = true;
      const all = targets.map((target, index) => answers[index] ?? waiting(target));
      return of({ answers: all, release });
    });
    return concat(wait$, result$).pipe(
      finalize(() => {
        if (!isTaken) release();
      }),
    );
  });

/** The interval of the readiness checks, in milliseconds. */
const CHECK_MS = 50;

/** Emits once, when all targets are ready, except those that have ended, or at the latest after `longestMs`. */
export const whenReady = (
  registry: Targets,
  longestMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<void> =>
  timer(0, CHECK_MS, scheduler).pipe(
    filter(
      (checks) =>
        checks * CHECK_MS >= longestMs ||
        (registry.isDiscovering !== true &&
          registry.targets.every((target) => target.status().isReady || hasEnded(target))),
    ),
    take(1),
    map(() => undefined),
  );
