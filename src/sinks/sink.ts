// The interface of a sink, the identity of the exporter, and routing parameters.
import { asyncScheduler, filter, map, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Target } from '../model.js';

/** What any sink can report. What only one of them can count, it adds to the self-metrics. */
export type SinkEvent =
  /** Metrics are available there from now on. */
  | { readonly kind: 'opened'; readonly where: string }
  /** One response or document is over. */
  | {
      readonly kind: 'served';
      /** Bytes that were written. */
      readonly bytes: number;
      readonly outcome: Outcome;
    }
  /** A snapshot was not written. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** `refused`: an error instead of the requested metrics. `cut`: the reader did not get all of it. */
type Outcome = 'delivered' | 'refused' | 'cut';

/** The current targets; a reload replaces the list. */
export interface Targets {
  readonly targets: readonly Target[];
}

/**
 * The right end of the pipeline: subscribing opens it, unsubscribing closes it. A sink knows targets
 * and pages; never segments, never streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

/** What a request says of its target; undefined for what it does not say. */
interface RoutingParameters {
  readonly serverKey: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** Whether a target matches all parameters that are given. */
export const matches = (target: Target, { serverKey, app, instance }: RoutingParameters): boolean =>
  (app === undefined || target.app === app) &&
  (serverKey === undefined || isOnKey(target, serverKey)) &&
  (instance === undefined || (instance !== '' && instanceOf(target) === instance));

/**
 * The fewest parameters that select a target, the same whether it is ready or not.
 * None for the only target that looks through several server keys, since its key may change.
 */
export function parametersOf(
  target: Target,
  targets: readonly Target[],
): Readonly<Record<string, string>> {
  if (targets.length === 1 && target.serverKeys.length > 1) return {};
  const serverKey = serverKeyOf(target);
  const peers = targets.filter((each) => each !== target && each.serverKeys.includes(serverKey));
  if (peers.length === 0) return { server_key: serverKey };
  const { app } = target;
  const instance = instanceOf(target);
  const isAlone = instance === '' || !peers.some((each) => each.app === app);
  return { server_key: serverKey, app, ...(isAlone ? {} : { instance }) };
}

/** The key whose root was chosen last, else the first one. */
const serverKeyOf = ({ lastRoot, serverKeys }: Target): string =>
  lastRoot?.serverKey ?? serverKeys[0] ?? '';

/** Its root, else its last root, else the configured hint. */
const instanceOf = ({ lastRoot, instance }: Target): string => lastRoot?.id ?? instance;

/** While a root is chosen only its key counts; else all that the target looks through. */
function isOnKey(target: Target, serverKey: string): boolean {
  if (!target.serverKeys.includes(serverKey)) return false;
  if (target.serverKeys.length === 1) return true;
  const status = target.status();
  return status.root === '' || status.serverKey === serverKey;
}

// The labels that identify a target, in the self-metrics and in service discovery.
export type IdentityLabels = Readonly<Record<string, string>>;

/** All labels that an identity may have. */
export const IDENTITY = ['app', 'server_key', 'hint', 'twin'] as const;

/**
 * The identity of each target; all are different. It comes from the configuration and not from the
 * root, so series continue when a root is lost. Targets with the same configuration are numbered by
 * `twin`, from the second on.
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

/** How often it is looked whether they are ready. */
const LOOK_MS = 50;

/** Emits once: when all targets are ready, at the latest after `longestMs`. */
export const whenReady = (
  registry: Targets,
  longestMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<void> =>
  timer(0, LOOK_MS, scheduler).pipe(
    filter(
      (looks) =>
        looks * LOOK_MS >= longestMs || registry.targets.every((target) => target.status().isReady),
    ),
    take(1),
    map(() => undefined),
  );
